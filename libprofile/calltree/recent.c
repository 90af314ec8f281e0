/* recent.c - the last stack of some threads: see recent.h. */
#include "calltree/recent.h"

#include <string.h>

struct pp_recent *pp_recent_of(struct pp_recents *all, const struct pd_history *h,
			       const struct pp_same *same, const struct pd_fields *sample,
			       const struct pd_moment *at)
{
	const uint64_t state = pd_history_state_near(h, at, all->state);
	struct pp_recent *t = &all->of_thread[(uint32_t)same->tid % PP_RECENT_THREADS];
	const bool is_same = t->is_known && memcmp(&t->same, same, sizeof(*same)) == 0 &&
			     pd_history_same_state(h, same->pid, same->tid, t->state, state);

	t->state = all->state = state;
	if (is_same)
		return t;
	t->same = *same;
	t->mapped = pp_sites_mapped(&all->sites, h, sample, state);
	t->is_known = false;
	t->nr_entries = 0;
	return t;
}

size_t pp_recent_leave_out(const struct pp_recent *t, const struct pd_history *h,
			   struct pd_fields *sample)
{
	const struct pd_numbers kept = { (const uint8_t *)t->entries, t->nr_entries,
					 sizeof(*t->entries), 0, NULL };
	size_t entries, n;

	if (!t->nr_entries || !(sample->has & PD_HAS_CALLCHAIN))
		return 0;
	n = pd_history_common_frames(h, &sample->callchain, &kept, &entries);
	sample->callchain.count -= entries;
	return n;
}

void pp_recent_keep_task(struct pp_recent *t, const struct pd_task *task, uint32_t node)
{
	t->task = *task;
	t->task_node = node;
	t->track = PP_NONE;
	t->is_known = true;
}

void pp_recent_keep_chain(struct pp_recent *t, const struct pd_fields *sample, size_t nr)
{
	const struct pd_numbers *chain = &sample->callchain;

	const bool changes = t->changes;

	t->nr_entries = 0;
	t->changes = false;
	if (!(sample->has & PD_HAS_CALLCHAIN) || changes || chain->count > PP_RECENT_ENTRIES ||
	    nr > PP_RECENT_ENTRIES)
		return;
	t->nr_entries = chain->count;
	if (chain->width == sizeof(*t->entries) && !chain->swapped) {
		/* gcc makes a slow rep movs of memcpy() */
		memmove(t->entries, chain->data, chain->count * sizeof(*t->entries));
		return;
	}
	for (size_t i = 0; i < chain->count; i++)
		t->entries[i] = pd_number_at(chain, i);
}
