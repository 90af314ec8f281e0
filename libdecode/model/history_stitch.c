/* history_stitch.c - longer call stacks than a CPU keeps: see history_stitch.h.
 *
 * The CPU keeps calls in registers that it uses in a circle: a return frees the newest one, a call
 * takes the next. So if the oldest call of a sample is in the register where the same call was in
 * the sample before, the thread did not return from it in between, nor from those before it. */
#include "model/history_stitch.h"

#include <stdlib.h>
#include <string.h>

#include "model/history_branches.h"
#include "model/history_guests.h"

/* The last sample of a thread. */
struct last_sample {
	uint64_t start;			/* of the thread: its number may be used again */
	struct pd_branch *branches;	/* newest first */
	uint32_t nr, room;
	uint32_t newest;		/* register of the first */
	const struct pd_stitched_call *more;
};

/* The calls to add to a sample. */
struct stitched {
	const struct stitched *same_key;
	struct pd_moment at;
	const struct pd_stitched_call *calls;
};

struct pd_stitcher {
	struct pd_history *history;
	uint32_t registers, max_calls;
	struct pd_map threads;		/* pid and tid -> struct last_sample */
	struct pd_map samples;		/* key_of() -> struct stitched */
	/* of the sample that is added */
	struct pd_branch branches[PD_STITCH_REGISTERS_MAX];
	uint32_t nr;
};

struct pd_stitcher *pd_stitcher_new(struct pd_history *h, uint32_t registers, uint32_t max_calls)
{
	struct pd_stitcher *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->history = h;
	s->registers = registers;
	s->max_calls = max_calls;
	s->threads.budget = s->samples.budget = &h->budget;
	return s;
}

void pd_stitcher_free(struct pd_stitcher *s)
{
	if (!s)
		return;
	pd_map_free(&s->threads);
	pd_map_free(&s->samples);
	free(s);
}

/* --- samples --- */

/* Samples have different keys, unless they are in two files of a directory. */
static uint64_t key_of(const struct pd_moment *at)
{
	return at->inner ? ~at->inner : at->offset;
}

static bool is_same_moment(const struct pd_moment *a, const struct pd_moment *b)
{
	return a->time == b->time && a->offset == b->offset && a->inner == b->inner;
}

static int keep_calls(struct pd_stitcher *s, const struct pd_record *sample,
		      const struct pd_stitched_call *calls)
{
	struct stitched *kept = pd_arena_alloc(&s->history->arena, sizeof(*kept)), *first;

	if (!kept)
		return -1;
	pd_record_moment(sample, &kept->at);
	kept->calls = calls;
	first = pd_map_find(&s->samples, key_of(&kept->at));
	if (!first)
		return pd_map_add(&s->samples, key_of(&kept->at), kept);
	kept->same_key = first->same_key;
	first->same_key = kept;
	return 0;
}

const struct pd_stitched_call *pd_stitcher_find(const struct pd_stitcher *s,
						const struct pd_record *sample, uint32_t *max)
{
	const struct stitched *kept;
	struct pd_moment at;

	pd_record_moment(sample, &at);
	kept = pd_map_find(&s->samples, key_of(&at));
	while (kept && !is_same_moment(&kept->at, &at))
		kept = kept->same_key;
	*max = s->max_calls;
	return kept ? kept->calls : NULL;
}

/* --- threads --- */

static struct last_sample *find_thread(struct pd_stitcher *s, const struct pd_task *task)
{
	const uint64_t key = (uint64_t)(uint32_t)task->pid << 32 | (uint32_t)task->tid;
	struct last_sample *last = pd_map_find(&s->threads, key);

	if (last) {
		if (last->start != task->start)
			last->nr = 0;
		last->start = task->start;
		return last;
	}
	last = pd_arena_alloc(&s->history->arena, sizeof(*last));
	if (!last || pd_map_add(&s->threads, key, last))
		return NULL;
	last->start = task->start;
	return last;
}

static void take_branch(void *ctx, const struct pd_branch *b)
{
	struct pd_stitcher *s = ctx;

	if (s->nr < PD_STITCH_REGISTERS_MAX)
		s->branches[s->nr] = *b;
	s->nr++;
}

/* Makes the sample the last one of its thread. */
static int replace_last(struct pd_stitcher *s, struct last_sample *last, uint32_t newest,
			const struct pd_stitched_call *more)
{
	if (s->nr > last->room) {
		const uint32_t room = s->nr > 2 * last->room ? s->nr : 2 * last->room;

		last->nr = 0;
		last->branches = pd_arena_alloc(&s->history->arena,
						room * sizeof(*last->branches));
		last->room = last->branches ? room : 0;
		if (!last->branches)
			return -1;
	}
	memcpy(last->branches, s->branches, s->nr * sizeof(*last->branches));
	last->nr = s->nr;
	last->newest = newest;
	last->more = more;
	return 0;
}

/* --- stitching --- */

/* Returns how many branches of the last sample are newer than the oldest one of this sample; as
 * many as there are, if that is not among them. */
static uint32_t find_oldest(const struct pd_stitcher *s, const struct last_sample *last,
			    uint32_t newest)
{
	const uint32_t oldest = (newest + s->registers - (s->nr - 1)) % s->registers;
	const uint32_t at = (last->newest + s->registers - oldest) % s->registers;
	const struct pd_branch *mine = &s->branches[s->nr - 1], *its = last->branches + at;

	return at < last->nr && mine->from == its->from && mine->to == its->to &&
	       mine->flags == its->flags ? at : last->nr;
}

/* Returns the calls of the last sample from its i-th branch on, with those that were added to it;
 * sets *failed without memory. */
static const struct pd_stitched_call *older_calls(struct pd_stitcher *s,
						  const struct last_sample *last, uint32_t i,
						  bool *failed)
{
	const struct pd_stitched_call *calls = last->more;

	for (uint32_t at = last->nr; at-- > i;) {
		struct pd_stitched_call *c = pd_arena_alloc(&s->history->arena, sizeof(*c));

		if (!c) {
			*failed = true;
			return NULL;
		}
		*c = (struct pd_stitched_call){ calls, last->branches[at].from };
		calls = c;
	}
	return calls;
}

/* Returns whether the branches can be in registers. */
static bool is_possible(const struct pd_stitcher *s, int64_t newest)
{
	return s->nr && s->nr <= s->registers && newest >= 0 && newest < (int64_t)s->registers;
}

static int stitch(struct pd_stitcher *s, struct last_sample *last, uint32_t newest,
		  const struct pd_record *sample)
{
	const struct pd_stitched_call *more = NULL;
	bool failed = false;
	uint32_t same = last->nr ? find_oldest(s, last, newest) : 0;

	if (same < last->nr)
		more = older_calls(s, last, same + 1, &failed);
	if (failed || (more && keep_calls(s, sample, more)))
		return -1;
	return replace_last(s, last, newest, more);
}

int pd_stitcher_add(struct pd_stitcher *s, const struct pd_record *sample)
{
	struct last_sample *last;
	struct pd_task task;
	int64_t newest;

	if (pd_history_guest_of(s->history, sample))
		return 0;
	pd_history_record_task(s->history, sample, &task);
	last = find_thread(s, &task);
	if (!last)
		return -1;
	s->nr = 0;
	pd_branches_each(sample, take_branch, s, &newest);
	if (is_possible(s, newest))
		return stitch(s, last, (uint32_t)newest, sample);
	last->nr = 0;
	return 0;
}
