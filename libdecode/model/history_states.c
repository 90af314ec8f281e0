/* history_states.c - the knowledge at a moment as a number: the rank of the last change, and
 * whether records were lost. */
#include "model/history_guests.h"

#define COMPARED 64	/* changes between two states */
#define PIECES_COMPARED 256	/* of a space that changes later */
#define KERNEL_PIECES_COMPARED 4096

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

static bool is_rank_of(const struct pd_history *h, const struct pd_moment *at, uint64_t rank)
{
	return !(h->has_times && at->time == PD_NO_TIME) && rank <= h->changes.nr &&
	       (!rank || pd_history_is_until(h, (uint32_t)rank, at)) &&
	       (rank == h->changes.nr || !pd_history_is_until(h, (uint32_t)rank + 1, at));
}

uint64_t pd_history_state_near(const struct pd_history *h, const struct pd_moment *at,
			       uint64_t near)
{
	if (!h || !at || h->live || !is_rank_of(h, at, near >> 1))
		return pd_history_state_at(h, at);
	return (near >> 1) << 1 | pd_history_is_after_loss(h, at);
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

/* Returns the rank of the last change at or before a rank to what a space has mapped: where a piece
 * ends, another begins. Where many would have to be looked at, the rank itself stands for it. */
static uint32_t last_change(const struct pd_history *h, uint32_t space, uint32_t rank,
			    uint32_t most)
{
	const struct pd_space *s = space == PD_NOTHING ? NULL : pd_space_at(h, space);
	const struct pd_map_piece *pieces;
	uint32_t last = 0;

	if (!s || s->last_change <= rank)
		return s ? s->last_change : 0;
	if (s->count > most)
		return rank;
	pieces = pd_map_piece_at(h, pd_first_piece(h, s));
	for (uint32_t i = 0; i < s->count; i++)
		if (pieces[i].from <= rank && pieces[i].from > last)
			last = pieces[i].from;
	return last;
}

/* Returns the rank of the last change to the spaces in which kernel addresses are looked up. */
static uint32_t last_change_in_kernel(const struct pd_history *h, uint32_t rank)
{
	uint32_t last = 0;

	for (int of = PD_SPACE_OF_KERNEL; of <= PD_SPACE_OF_KSYMBOLS; of++) {
		const uint64_t key = pd_space_key(PD_HOST, (enum pd_space_of)of, 0);
		const uint32_t own = last_change(h, pd_history_find_space(h, key, rank), rank,
						 KERNEL_PIECES_COMPARED);

		last = own > last ? own : last;
	}
	return last;
}

uint64_t pd_history_mapped(const struct pd_history *h, const struct pd_fields *sample,
			   enum pd_cpumode mode, uint64_t state)
{
	enum { KERNEL = 1, PROCESS_UNKNOWN, PROCESSES };	/* and their spaces */
	const uint64_t rank = state >> 1;
	uint64_t where = KERNEL;
	uint32_t space, last, pid;

	if (!h || !sample || h->live || rank > INT32_MAX || h->spaces.nr > INT32_MAX / 2 ||
	    (sample->has & PD_HAS_ID && pd_history_guest(h, sample->id)))
		return 0;
	pid = (uint32_t)(sample->has & PD_HAS_PID ? sample->pid : -1);
	if (mode == PD_CPUMODE_KERNEL) {
		last = last_change_in_kernel(h, (uint32_t)rank);
	} else if (mode == PD_CPUMODE_USER) {
		space = pd_history_find_space(h, pd_space_key(PD_HOST, PD_SPACE_OF_PROCESS, pid),
					      (uint32_t)rank);
		where = space == PD_NOTHING ? PROCESS_UNKNOWN : PROCESSES + (uint64_t)space;
		last = last_change(h, space, (uint32_t)rank, PIECES_COMPARED);
	} else {
		return 0;
	}
	return where << 32 | (uint64_t)last << 1 | (state & 1);
}
