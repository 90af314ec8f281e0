/* recent.c - what samples of a thread have in common: see recent.h. */
#include "samples/recent.h"

#include <string.h>

#include "pd/pd.h"

enum { NO_TASK = -1 };

#define OF_EPOCH (1ull << 63)	/* pd_history_mapped() returns no such numbers */

void pc_recents_init(struct pc_recents *r, struct pd_budget *budget, uint64_t limit)
{
	*r = (struct pc_recents){ .budget = budget, .limit = limit, .chains.budget = budget };
	if (PC_NR_PLACES * sizeof(*r->places) > limit)
		return;
	r->places = pd_budget_alloc_written(budget, PC_NR_PLACES * sizeof(*r->places));
	if (r->places)
		r->threads = pd_budget_alloc_written(budget, PC_NR_THREADS * sizeof(*r->threads));
}

void pc_recents_free(struct pc_recents *r)
{
	pd_budget_free(r->budget, r->threads, PC_NR_THREADS * sizeof(*r->threads));
	pd_budget_free(r->budget, r->places, PC_NR_PLACES * sizeof(*r->places));
	r->threads = NULL;
	r->places = NULL;
	pd_buf_free(&r->chains);
}

struct pc_thread *pc_recents_thread(struct pc_recents *r, const struct pd_history *h,
				    const struct pd_fields *f, const struct pd_moment *at)
{
	const uint32_t needed = PD_HAS_PID | PD_HAS_TID | PD_HAS_TIME;
	const uint32_t cpu = f->tid || !(f->has & PD_HAS_CPU) ? 0 : f->cpu;
	const uint64_t id = f->has & PD_HAS_ID ? f->id : 0;
	uint64_t state;
	struct pc_thread *t;
	bool is_same;

	if (!r->threads || (f->has & needed) != needed)
		return NULL;
	state = pd_history_state_near(h, at, r->state);
	r->state = state;
	t = &r->threads[(uint32_t)f->tid % PC_NR_THREADS];
	is_same = t->epoch && t->tid == f->tid && t->pid == f->pid && t->cpu == cpu &&
		  t->id == id && pd_history_same_state(h, f->pid, f->tid, t->state, state);
	if (!is_same)
		*t = (struct pc_thread){ .pid = f->pid, .tid = f->tid, .cpu = cpu, .id = id,
					 .epoch = ++r->epochs };
	t->state = state;
	return t;
}

void pc_recents_map(struct pc_recents *r, const struct pd_history *h, struct pc_thread *t,
		    const struct pd_fields *f)
{
	if (t->has_mapped)
		return;
	t->has_mapped = true;
	t->process = pd_history_mapped(h, f, PD_CPUMODE_USER, t->state);
	if (t->process && (!r->kernel || !pd_history_same_state(h, NO_TASK, NO_TASK,
								r->kernel_state, t->state))) {
		r->kernel = pd_history_mapped(h, f, PD_CPUMODE_KERNEL, t->state);
		r->kernel_state = t->state;
	}
	t->kernel = t->process ? r->kernel : 0;
	if (!t->kernel)
		t->process = OF_EPOCH | t->epoch;
}

static uint64_t word_at(const uint8_t *data, size_t i)
{
	uint64_t word;

	memcpy(&word, data + i * sizeof(word), sizeof(word));
	return word;
}

/* Simple and fast: two chains of one place cost no more than time. */
static inline uint64_t mix(uint64_t hash, uint64_t n)
{
	hash = (hash ^ n) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/* Mixes two numbers into a hash: with one multiplication where it has 128 bits. (gcc makes vectors
 * of a loop over mix(), which have none of 64 bits.) */
static inline uint64_t mix_two(uint64_t hash, uint64_t first, uint64_t second)
{
#ifdef __SIZEOF_INT128__
	const unsigned __int128 product = (unsigned __int128)(hash ^ first) *
					  (second ^ 0x9e3779b97f4a7c15ull);

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
	return mix(mix(hash, first), second);
#endif
}

/* Two sums at once: each step of one waits for the last. */
static uint64_t hash_chain(const struct pd_numbers *chain)
{
	uint64_t one = chain->count, other = 0;
	size_t i = 0;

	for (; i + 4 <= chain->count; i += 4) {
		one = mix_two(one, word_at(chain->data, i), word_at(chain->data, i + 1));
		other = mix_two(other, word_at(chain->data, i + 2), word_at(chain->data, i + 3));
	}
	for (; i < chain->count; i++)
		one = mix(one, word_at(chain->data, i));
	return mix(one, other);
}

/* Returns the bits of `has` that tell which addresses a sample has. */
static uint32_t kinds_of(const struct pd_fields *f)
{
	return f->has & (PD_HAS_IP | PD_HAS_CALLCHAIN);
}

static struct pd_numbers chain_of(const struct pd_fields *f)
{
	return f->has & PD_HAS_CALLCHAIN ? f->callchain :
					   (struct pd_numbers){ .width = sizeof(uint64_t) };
}

/* Returns what is mapped for the process, 0 if that does not matter. */
static uint64_t process_of(const struct pc_thread *t, const struct pd_fields *f)
{
	const bool is_kernel = (f->misc & PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL;

	return pc_is_mapped(t) && is_kernel && !(f->has & PD_HAS_CALLCHAIN) ? 0 : t->process;
}

uint32_t pc_recents_find(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f)
{
	const struct pd_numbers chain = chain_of(f);
	const uint64_t ip = f->has & PD_HAS_IP ? f->ip : 0, process = process_of(t, f);
	const struct pc_place *p;

	r->asked = NULL;
	if (chain.width != sizeof(uint64_t))
		return PC_NONE;
	r->asked = &r->places[mix(mix(chain.count ? hash_chain(&chain) : t->kernel, ip), process) %
			      PC_NR_PLACES];
	p = r->asked;
	if (p->process != process || p->kernel != t->kernel || p->ip != ip ||
	    p->has != kinds_of(f) ||
	    p->misc != (f->misc & PD_MISC_CPUMODE) || p->count != chain.count ||
	    (p->count && memcmp(r->chains.data + p->start, chain.data,
				p->count * sizeof(uint64_t)) != 0))
		return PC_NONE;
	return (uint32_t)(p - r->places);
}

static void empty(struct pc_recents *r)
{
	memset(r->places, 0, PC_NR_PLACES * sizeof(*r->places));
	r->chains.size = 0;
}

uint32_t pc_recents_keep(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f)
{
	const struct pd_numbers chain = chain_of(f);
	const size_t size = chain.count * sizeof(uint64_t);

	if (!r->asked || size > r->limit / 64 || size > UINT32_MAX)
		return PC_NONE;
	if (r->chains.size + size > r->limit)
		empty(r);
	*r->asked = (struct pc_place){ .ip = f->has & PD_HAS_IP ? f->ip : 0,
				       .start = r->chains.size, .count = (uint32_t)chain.count,
				       .has = (uint16_t)kinds_of(f),
				       .misc = f->misc & PD_MISC_CPUMODE };
	pd_buf_append(&r->chains, chain.data, size);
	if (r->chains.failed)
		return PC_NONE;
	r->asked->process = process_of(t, f);
	r->asked->kernel = t->kernel;
	return (uint32_t)(r->asked - r->places);
}
