/* offcpu.c - the time that threads do not run, from context switches.
 *
 * A wait begins with a SWITCH record or with sched:sched_switch, and ends with the next switch to
 * the thread. Its stack is that of sched:sched_switch, else of the thread's last sample.
 */
#include "profile/offcpu.h"

#include <string.h>

#include "profile/events.h"
#include "profile/keep.h"

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

static struct pp_waiter *find_waiter(struct pp_profile *p, uint64_t thread)
{
	struct pp_offcpu *o = &p->offcpu;
	const uint32_t hash = (uint32_t)pp_index_hash(&o->index, thread);
	const uint32_t found = pp_index_find(&o->index, hash, o->waiters, &thread, is_same_thread);
	struct pp_waiter *waiters;

	if (found != PP_NONE)
		return &o->waiters[found];
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
		set_stack_of(w, of);
		w->copies[PP_BLOCKED] = w->copies[PP_PREEMPTED] = PP_NONE;
	}
	return 0;
}

static uint32_t add_note(struct pp_profile *p, uint32_t parent, const struct pp_waiter *w,
			 enum pp_switch why)
{
	static const char *const names[2][2] = {
		{ "[blocked, approximate]", "[preempted, approximate]" },
		{ "[blocked]", "[preempted]" },
	};
	const char *name = names[w->stack_of == PP_STACK_OF_SWITCH][why == PP_PREEMPTED];
	const uint32_t text = pp_strings_add(&p->strings, &p->memory, name, strlen(name));
	const uint32_t frame = text == PP_NONE ? PP_NONE :
		pp_frames_add_text(&p->frames, &p->memory, PP_KIND_WAIT, text);

	return frame == PP_NONE ? PP_NONE : pp_tree_child(&p->tree, &p->memory, parent, frame);
}

/* Copies the stack of the thread's last sample to the event of waits: the tasks, why, the
 * functions. Returns the node, or PP_NONE without memory. */
static uint32_t copy_stack(struct pp_profile *p, const struct pp_waiter *w, enum pp_switch why)
{
	uint32_t node = p->events[p->offcpu.event].root, frames[512], at = w->last;
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
	for (size_t i = 0; i < n && node != PP_NONE; i++) {
		const uint8_t kind = p->frames.items[frames[i]].kind;

		if (!has_note && kind != PP_KIND_THREAD && kind != PP_KIND_IDLE) {
			node = add_note(p, node, w, why);
			has_note = true;
		}
		if (node != PP_NONE)
			node = pp_tree_child(&p->tree, &p->memory, node, frames[i]);
	}
	return node == PP_NONE || has_note ? node : add_note(p, node, w, why);
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

int pp_offcpu_leave(struct pp_profile *p, uint64_t thread, const struct pd_fields *record,
		    enum pp_switch why)
{
	const uint64_t limit = p->memory.limit;
	struct pp_waiter *w = find_waiter(p, thread);

	if (!w)
		return -1;
	p->offcpu.last = record->time;
	if (w->since != PD_NO_TIME || (w->last == PP_NONE && !w->is_small))
		return 0;
	p->memory.limit = limit / 4;	/* as for samples */
	/* a deep stack is copied once, however often its thread waits */
	if (w->copies[why] == PP_NONE && !w->is_small)
		w->copies[why] = copy_stack(p, w, why);
	w->node = w->copies[why];
	p->memory.limit = limit;
	w->since = record->time;
	p->offcpu.waits++;
	if (w->stack_of == PP_STACK_OF_SAMPLE)
		p->offcpu.approximate++;
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

int pp_offcpu_enter(struct pp_profile *p, uint64_t thread, uint64_t time)
{
	struct pp_waiter *w = find_waiter(p, thread);
	uint64_t since;

	if (!w)
		return -1;
	p->offcpu.last = time;
	since = w->since;
	w->since = PD_NO_TIME;
	if (since == PD_NO_TIME || time <= since)
		return 0;
	set_stack_of(w, PP_STACK_OF_SAMPLE);	/* from now on the switch's stack is old */
	if (keep_wait(p, w, time, time - since))
		return -1;
	return pp_events_weigh(p, p->offcpu.event, w->node, time - since);
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
