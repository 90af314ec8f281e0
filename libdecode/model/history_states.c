/* history_states.c - the knowledge at a moment as a number: the rank of the last change, and
 * whether records were lost. */
#include "model/history.h"

#define COMPARED 64	/* changes between two states */

bool pd_history_is_after_loss(const struct pd_history *h, const struct pd_moment *at)
{
	return h->lost && (h->has_times && h->lost_time != PD_NO_TIME ?
				   at->time >= h->lost_time :
				   at->offset >= h->lost_offset);
}

uint64_t pd_history_state_at(const struct pd_history *h, const struct pd_moment *at)
{
	if (!h || !at)
		return 0;
	if (h->live)
		return h->nr_changes + h->changes.nr;
	return (uint64_t)pd_history_rank_of(h, at) << 1 | pd_history_is_after_loss(h, at);
}

/* Returns whether a change may concern a thread of the host: its own tasks and maps, and those of
 * the kernel. */
static bool may_concern(const struct pd_history *h, const struct pd_change *c, uint32_t pid,
			uint32_t tid)
{
	const struct pd_learned_map *m;

	if (c->machine || c->pid == pid || c->tid == tid)
		return true;
	if (c->kind != PD_CHANGE_MAP)
		return false;
	m = pd_map_at(h, c->item);
	return m->pid == pid || m->space_of != PD_SPACE_OF_PROCESS;
}

bool pd_history_same_state(const struct pd_history *h, int32_t pid, int32_t tid, uint64_t one,
			   uint64_t other)
{
	const uint64_t before = one < other ? one : other, after = one < other ? other : one;

	if (!h || one == other)
		return h;
	if (h->live || (before ^ after) & 1 || (after - before) >> 1 > COMPARED ||
	    after >> 1 > h->changes.nr)
		return false;
	for (uint64_t rank = (before >> 1) + 1; rank <= after >> 1; rank++)
		if (may_concern(h, pd_change_at(h, (uint32_t)rank), (uint32_t)pid, (uint32_t)tid))
			return false;
	return true;
}
