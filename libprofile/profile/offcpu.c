/* offcpu.c - the time that threads do not run, from context switches.
 *
 * A wait begins with a SWITCH record or with sched:sched_switch, and ends with the next switch to
 * the thread. Its stack is that of sched:sched_switch, else of the thread's last sample. It counts
 * as far as it is in the wanted time.
 */
#include "profile/offcpu.h"

#include "profile/events.h"
#include "profile/keep.h"
#include "profile/walk.h"

static bool is_same_thread(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct pp_waiter *)ctx)[i].thread == *(const uint64_t *)key;
}

uint64_t pp_thread_of(const struct pp_profile *p, const struct pd_fields *record)
{
	struct pd_task task;

	pd_history_fields_task(p->options.history, record, NULL, &task);
	return pp_thread_key(&task);
}

/* Returns NULL if the thread is not known. */
static struct pp_waiter *known_waiter(struct pp_offcpu *o, uint64_t thread)
{
	const uint32_t hash = (uint32_t)pp_index_hash(&o->index, thread);
	const uint32_t found = pp_index_find(&o->index, hash, o->waiters, &thread, is_same_thread);

	return found == PP_NONE ? NULL : &o->waiters[found];
}

/* Returns NULL without memory. */
static struct pp_waiter *find_waiter(struct pp_profile *p, uint64_t thread)
{
	struct pp_offcpu *o = &p->offcpu;
	const uint32_t hash = (uint32_t)pp_index_hash(&o->index, thread);
	struct pp_waiter *waiters = known_waiter(o, thread);

	if (waiters)
		return waiters;
	waiters = pp_memory_grow(&p->memory, o->waiters, &o->capacity, o->nr + 1,
				 sizeof(*waiters));
	if (!waiters)
		return NULL;
	o->waiters = waiters;
	if (pp_index_add(&o->index, &p->memory, hash, (uint32_t)o->nr))
		return NULL;
	o->waiters[o->nr] = (struct pp_waiter){ .thread = thread, .last = PP_NONE, .node = PP_NONE,
						.copies = { PP_NONE, PP_NONE },
						.since = PD_NO_TIME, .track = PP_NONE };
	return &o->waiters[o->nr++];
}

static void set_stack_of(struct pp_waiter *w, enum pp_stack_of of)
{
	if (w->stack_of != of)
		w->copies[PP_BLOCKED] = w->copies[PP_PREEMPTED] = PP_NONE;
	w->stack_of = (uint8_t)of;
}

int pp_offcpu_note(struct pp_profile *p, uint64_t thread, uint32_t node, enum pp_stack_of of)
{
	struct pp_waiter *w = find_waiter(p, thread);

	if (!w)
		return -1;
	if (w->since == PD_NO_TIME) {
		w->last = node;
		w->is_small = node == PP_NONE;
		w->is_left_out = false;
		set_stack_of(w, of);
		w->copies[PP_BLOCKED] = w->copies[PP_PREEMPTED] = PP_NONE;
	}
	return 0;
}

int pp_offcpu_leave_out(struct pp_profile *p, uint64_t thread)
{
	struct pp_waiter *w = find_waiter(p, thread);

	if (w && w->since == PD_NO_TIME)
		w->is_left_out = true;
	return w ? 0 : -1;
}

static void walk_to_note(struct pp_walk *to, const struct pp_waiter *w, enum pp_switch why)
{
	static const char *const names[2][2] = {
		{ "[blocked, approximate]", "[preempted, approximate]" },
		{ "[blocked]", "[preempted]" },
	};
	const bool is_exact = w->stack_of == PP_STACK_OF_SWITCH || w->last == PP_NONE;

	pp_walk_to_text(to, PP_KIND_WAIT, names[is_exact][why == PP_PREEMPTED]);
}

/* Copies the stack of the thread's last sample to the event of waits: the tasks, why, the
 * functions. Returns the node, or PP_NONE without memory. */
static uint32_t copy_stack(struct pp_profile *p, const struct pp_waiter *w, enum pp_switch why)
{
	struct pp_walk to = { p, p->events[p->offcpu.event].root };
	uint32_t frames[512], at = w->last;
	bool has_note = false;
	size_t n = 0, skipped = 0;

	for (uint32_t i = at; p->tree.nodes[i].parent != PP_NONE; i = p->tree.nodes[i].parent)
		n++;
	/* of deeper stacks the innermost functions are left out */
	for (; n - skipped > sizeof(frames) / sizeof(*frames); skipped++)
		at = p->tree.nodes[at].parent;
	n -= skipped;
	for (size_t i = n; i--; at = p->tree.nodes[at].parent)
		frames[i] = p->tree.nodes[at].frame;
	for (size_t i = 0; i < n; i++) {
		const uint8_t kind = p->frames.items[frames[i]].kind;

		if (!has_note && kind != PP_KIND_THREAD && kind != PP_KIND_IDLE) {
			walk_to_note(&to, w, why);
			has_note = true;
		}
		pp_walk_to(&to, frames[i]);
	}
	if (!has_note)
		walk_to_note(&to, w, why);
	return to.node;
}

/* The same without a stack: the tasks, why, "[unknown]". */
static uint32_t add_nowhere(struct pp_profile *p, struct pd_reader *r, const struct pp_waiter *w,
			    const struct pd_fields *record, enum pp_switch why)
{
	struct pp_walk to = { p, p->events[p->offcpu.event].root };
	const struct pd_moment at = { record->time, record->offset, 0 };
	struct pd_task task;

	pd_history_fields_task(p->options.history, record, &at, &task);
	pp_walk_to_task(&to, r, record, &task);
	walk_to_note(&to, w, why);
	pp_walk_to_text(&to, PP_KIND_NOTE, "[unknown]");
	return to.node;
}

/* Sets w->track. Returns 0, or -1 without memory. */
static int find_track(struct pp_profile *p, struct pp_waiter *w, const struct pd_fields *record)
{
	const struct pd_history *h = p->options.history;
	const struct pd_moment at = { record->time, record->offset, 0 };
	struct pd_task task;

	w->track = PP_NONE;
	if (p->options.keep == PP_KEEP_SUMS)
		return 0;
	pd_history_fields_task(h, record, &at, &task);
	w->track = pp_tracks_of(&p->tracks, &p->strings, &p->memory, h, &task, &at);
	return w->track == PP_NONE ? pp_keep_none(p) : 0;
}

/* Returns where a thread waits, PP_NONE without memory. */
static uint32_t find_node(struct pp_profile *p, struct pd_reader *r, const struct pp_waiter *w,
			  const struct pd_fields *record, enum pp_switch why)
{
	const uint64_t limit = p->memory.limit;
	uint32_t node;

	p->memory.limit = limit / 4;	/* as for samples */
	node = w->last == PP_NONE ? add_nowhere(p, r, w, record, why) : copy_stack(p, w, why);
	p->memory.limit = limit;
	return node;
}

static void count_wait(struct pp_offcpu *o, const struct pp_waiter *w)
{
	o->waits++;
	if (w->last == PP_NONE && !w->is_small)
		o->nowhere++;
	else if (w->stack_of == PP_STACK_OF_SAMPLE)
		o->approximate++;
}

int pp_offcpu_leave(struct pp_profile *p, struct pd_reader *r, uint64_t thread,
		    const struct pd_fields *record, enum pp_switch why)
{
	struct pp_waiter *w = find_waiter(p, thread);

	if (!w)
		return -1;
	if (w->since != PD_NO_TIME || w->is_over)
		return 0;
	w->since = record->time;
	if (w->is_left_out)
		return 0;
	/* a deep stack is copied once, however often its thread waits */
	if (w->copies[why] == PP_NONE && !w->is_small)
		w->copies[why] = find_node(p, r, w, record, why);
	w->node = w->copies[why];
	return find_track(p, w, record);
}

/* Keeps a wait that ends as a sample of its length. */
static int keep_wait(struct pp_profile *p, const struct pp_waiter *w, uint64_t time,
		     uint64_t length)
{
	const struct pp_item item = {
		.kind = PP_ITEM_SAMPLE, .time = time, .weight = length,
		.node = w->node == PP_NONE ? p->events[p->offcpu.event].small : w->node };

	if (p->options.keep == PP_KEEP_SUMS || w->track == PP_NONE)
		return 0;
	return pp_track_add(&p->tracks, w->track, &item) ? pp_keep_none(p) : 0;
}

/* Counts a wait as far as it is in the wanted time. */
static int add_wait(struct pp_profile *p, const struct pp_waiter *w, uint64_t since, uint64_t until)
{
	if (since < p->time.from)
		since = p->time.from;
	if (until > p->time.to)
		until = p->time.to;
	if (until <= since)
		return 0;
	if (until - since >= PP_WEIGHT_LIMIT) {
		p->counts.too_heavy++;
		return 0;
	}
	count_wait(&p->offcpu, w);
	pp_note_span(p, since);
	pp_note_span(p, until);
	if (keep_wait(p, w, until, until - since))
		return -1;
	return pp_events_weigh(p, p->offcpu.event, w->node, until - since);
}

int pp_offcpu_enter(struct pp_profile *p, uint64_t thread, uint64_t time)
{
	struct pp_waiter *w = find_waiter(p, thread);
	uint64_t since;
	int ret;

	if (!w)
		return -1;
	since = w->since;
	w->since = PD_NO_TIME;
	if (since == PD_NO_TIME || time <= since || w->is_left_out)
		return 0;
	ret = add_wait(p, w, since, time);
	set_stack_of(w, PP_STACK_OF_SAMPLE);	/* from now on the switch's stack is old */
	return ret;
}

int pp_offcpu_exit(struct pp_profile *p, uint64_t thread, uint64_t time)
{
	struct pp_waiter *w = find_waiter(p, thread);

	if (!w)
		return -1;
	w->is_over = true;
	return pp_offcpu_enter(p, thread, time);
}

void pp_offcpu_fork(struct pp_profile *p, uint64_t thread)
{
	struct pp_waiter *w = known_waiter(&p->offcpu, thread);

	if (!w || !w->is_over)
		return;
	w->last = PP_NONE;
	w->copies[PP_BLOCKED] = w->copies[PP_PREEMPTED] = PP_NONE;
	w->is_small = w->is_left_out = w->is_over = false;
}

int pp_offcpu_end(struct pp_profile *p)
{
	struct pp_offcpu *o = &p->offcpu;

	for (size_t i = 0; i < o->nr; i++)
		if (pp_offcpu_enter(p, o->waiters[i].thread, o->last))
			return -1;
	return 0;
}

void pp_offcpu_free(struct pp_offcpu *o, struct pp_memory *m)
{
	pp_memory_free(m, o->waiters, o->capacity, sizeof(*o->waiters));
	pp_index_free(&o->index, m);
	*o = (struct pp_offcpu){ 0 };
}
