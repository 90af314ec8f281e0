/* threads.c - the threads that have samples. */
#include "profile/threads.h"

#include <string.h>

static bool is_same_thread(const void *ctx, uint32_t id, const void *key)
{
	return memcmp(&((const struct pp_thread *)ctx)[id], key, sizeof(struct pp_thread)) == 0;
}

void pp_threads_note(struct pp_profile *p, const struct pp_thread *t)
{
	const uint64_t task = (uint64_t)(uint32_t)t->pid << 32 | (uint32_t)t->tid;
	const uint32_t hash = (uint32_t)pd_hash_mix(pp_index_hash(&p->thread_index, task),
						    (uint32_t)t->machine_pid);
	struct pp_thread *threads;

	if (pp_index_find(&p->thread_index, hash, p->threads, t, is_same_thread) != PP_NONE)
		return;
	threads = pp_memory_grow(&p->memory, p->threads, &p->threads_capacity, p->nr_threads + 1,
				 sizeof(*threads));
	if (!threads)
		return;
	p->threads = threads;
	if (pp_index_add(&p->thread_index, &p->memory, hash, (uint32_t)p->nr_threads) == 0)
		p->threads[p->nr_threads++] = *t;
}
