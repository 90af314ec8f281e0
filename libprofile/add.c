/* add.c - reads samples into a profile. */
#include <stdio.h>
#include <string.h>

#include "profile_internal.h"

enum {
	BATCH = 256,
	KERNEL_STACK_MAX = 127,	/* sysctl kernel.perf_event_max_stack */
	STACK_FIRST = 256,
};

static int fail(struct pd_error *e, enum pd_code code)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL };
	return -1;
}

/* --- events and threads --- */

static uint32_t add_note(struct pp_profile *p, uint32_t parent, const char *text)
{
	const uint32_t id = pp_strings_add(&p->strings, &p->memory, text, strlen(text));
	uint32_t frame;

	if (id == PP_NONE)
		return PP_NONE;
	frame = pp_frames_add_text(&p->frames, &p->memory, PP_KIND_NOTE, id);
	return frame == PP_NONE ? PP_NONE : pp_tree_child(&p->tree, &p->memory, parent, frame);
}

static int make_event(struct pp_profile *p, struct pd_reader *r, const struct pd_attr *a)
{
	struct pp_counted_event event = { .attr = pd_attr_index(a) }, *events;
	uint32_t frame;

	events = pp_memory_grow(&p->memory, p->events, &p->events_capacity, p->nr_events + 1,
				sizeof(*events));
	if (!events)
		return -1;
	p->events = events;
	pp_weigher_init(&event.weigher, r, a);
	frame = pp_frames_add_text(&p->frames, &p->memory, PP_KIND_EVENT, (uint32_t)p->nr_events);
	if (frame == PP_NONE)
		return -1;
	event.root = pp_tree_child(&p->tree, &p->memory, PP_NONE, frame);
	if (event.root == PP_NONE)
		return -1;
	event.small = add_note(p, event.root, "[small]");
	if (event.small == PP_NONE)
		return -1;
	p->event_of_attr[event.attr] = (uint32_t)p->nr_events;
	p->events[p->nr_events++] = event;
	return 0;
}

/* Returns the event of a sample, or NULL without memory. */
static struct pp_counted_event *event_of(struct pp_profile *p, struct pd_reader *r,
					 const struct pd_attr *a)
{
	const size_t index = pd_attr_index(a), before = p->attrs_capacity;
	uint32_t *events;

	if (index >= before) {
		events = pp_memory_grow(&p->memory, p->event_of_attr, &p->attrs_capacity,
					index + 1, sizeof(*events));
		if (!events)
			return NULL;
		p->event_of_attr = events;
		memset(events + before, 0xff, (p->attrs_capacity - before) * sizeof(*events));
	}
	if (p->event_of_attr[index] == PP_NONE && make_event(p, r, a))
		return NULL;
	return &p->events[p->event_of_attr[index]];
}

static bool is_same_thread(const void *ctx, uint32_t id, const void *key)
{
	return memcmp(&((const struct pp_thread *)ctx)[id], key, sizeof(struct pp_thread)) == 0;
}

/* Without memory the number of threads is too low. */
static void note_thread(struct pp_profile *p, const struct pd_fields *sample)
{
	const struct pp_thread t = { (uint32_t)sample->pid, (uint32_t)sample->tid };
	const uint32_t hash = (uint32_t)pp_hash(t.pid, t.tid);
	struct pp_thread *threads;

	if (pp_index_find(&p->thread_index, hash, p->threads, &t, is_same_thread) != PP_NONE)
		return;
	threads = pp_memory_grow(&p->memory, p->threads, &p->threads_capacity, p->nr_threads + 1,
				 sizeof(*threads));
	if (!threads)
		return;
	p->threads = threads;
	if (pp_index_add(&p->thread_index, &p->memory, hash, (uint32_t)p->nr_threads) == 0)
		p->threads[p->nr_threads++] = t;
}

/* --- the way down the tree --- */

struct walk {
	struct pp_profile *p;
	uint32_t node;	/* PP_NONE: there was no memory for the next one */
};

static void go_down(struct walk *w, uint32_t frame)
{
	if (frame == PP_NONE)
		w->node = PP_NONE;
	if (w->node != PP_NONE)
		w->node = pp_tree_child(&w->p->tree, &w->p->memory, w->node, frame);
}

static void go_to_text(struct walk *w, enum pp_kind kind, const char *text, size_t size)
{
	struct pp_profile *p = w->p;
	const uint32_t id = pp_strings_add(&p->strings, &p->memory, text, size);

	go_down(w, id == PP_NONE ? PP_NONE :
		pp_frames_add_text(&p->frames, &p->memory, kind, id));
}

static void go_to_number(struct walk *w, const char *word, int32_t n)
{
	char text[32];
	const int size = snprintf(text, sizeof(text), "%s %d", word, n);

	go_to_text(w, PP_KIND_THREAD, text, (size_t)size);
}

static void go_to_task(struct walk *w, const struct pd_fields *sample, const struct pd_moment *at)
{
	const struct pp_options *o = &w->p->options;
	struct pd_task task;
	char unnamed[32];
	const char *comm;

	pd_history_task(o->history, sample->has & PD_HAS_PID ? sample->pid : -1,
			sample->has & PD_HAS_TID ? sample->tid : -1,
			sample->has & PD_HAS_CPU ? (int32_t)sample->cpu : -1, at, &task);
	comm = task.comm;
	if (!comm) {
		snprintf(unnamed, sizeof(unnamed), ":%d", task.tid);
		comm = unnamed;
	}
	if (task.flags & PD_TASK_IDLE)
		go_to_text(w, PP_KIND_IDLE, "", 0);
	if (o->groups & PP_GROUP_COMM)
		go_to_text(w, PP_KIND_THREAD, comm, strlen(comm));
	if (o->groups & PP_GROUP_PID)
		go_to_number(w, "pid", task.pid);
	if (o->groups & PP_GROUP_TID)
		go_to_number(w, "tid", task.tid);
}

/* --- a sample --- */

static size_t locate_stack(struct pp_profile *p, const struct pd_fields *sample)
{
	size_t n = pd_history_fields_frames(p->options.history, sample, p->stack,
					    p->stack_capacity);
	struct pd_location *stack;

	if (n <= p->stack_capacity)
		return n;
	stack = pp_memory_grow(&p->memory, p->stack, &p->stack_capacity,
			       n < STACK_FIRST ? STACK_FIRST : n, sizeof(*stack));
	if (!stack)
		return 0;
	p->stack = stack;
	return pd_history_fields_frames(p->options.history, sample, p->stack, p->stack_capacity);
}

/* Counts what makes a stack less trustworthy. Returns whether it is cut. */
static bool judge_stack(struct pp_profile *p, const struct pd_location *stack, size_t n)
{
	size_t kernel = 0;

	if (!n || stack[0].of != PD_LOCATION_OF_CALLCHAIN)
		return false;
	p->counts.chains++;
	if (n == 1 && stack[0].cpumode == PD_CPUMODE_USER)
		p->counts.lone++;
	while (kernel < n && stack[kernel].cpumode == PD_CPUMODE_KERNEL)
		kernel++;
	if (n - kernel < KERNEL_STACK_MAX && kernel < KERNEL_STACK_MAX && n < KERNEL_STACK_MAX)
		return false;
	p->counts.cut++;
	return true;
}

static void add_stack(struct walk *w, const struct pd_fields *sample)
{
	struct pp_profile *p = w->p;
	size_t n = locate_stack(p, sample);
	struct pd_location *stack = p->stack;

	/* the chain begins with the ip */
	if (n > 1 && stack[0].of == PD_LOCATION_OF_IP) {
		stack++;
		n--;
	}
	if (judge_stack(p, stack, n))
		go_to_text(w, PP_KIND_CUT, "", 0);
	while (n-- && w->node != PP_NONE)
		go_down(w, pp_frames_add_address(&p->frames, &p->memory, p->options.history,
						 sample->has & PD_HAS_PID ? sample->pid : -1,
						 &stack[n]));
}

static void note_time(struct pp_counts *c, const struct pd_fields *sample)
{
	if (!(sample->has & PD_HAS_TIME))
		return;
	if (c->first == PD_NO_TIME || sample->time < c->first)
		c->first = sample->time;
	if (c->last == PD_NO_TIME || sample->time > c->last)
		c->last = sample->time;
}

/* Keeps what formats with times need. Returns 0, or -1 without memory. */
static int keep_item(struct pp_profile *p, const struct pd_fields *record,
		     const struct pd_moment *at, const struct pp_item *item)
{
	if (p->options.keep != PP_KEEP_SAMPLES)
		return 0;
	return pp_tracks_add(&p->tracks, &p->strings, &p->memory, p->options.history, record, at,
			     item);
}

/* linux/perf_event.h */
enum { MISC_SWITCH_OUT = 1 << 13, MISC_SWITCH_OUT_PREEMPT = 1 << 14 };

static int add_switch(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *record)
{
	struct pp_item item = { .kind = PP_ITEM_RUNS };
	struct pd_moment at;

	if (record->misc & MISC_SWITCH_OUT)
		item.kind = record->misc & MISC_SWITCH_OUT_PREEMPT ? PP_ITEM_PREEMPTED :
								     PP_ITEM_BLOCKED;
	pd_record_moment(pd_reader_record(r, record), &at);
	return keep_item(p, record, &at, &item);
}

static int add_sample(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *sample)
{
	struct pp_counted_event *event = event_of(p, r, sample->attr);
	const uint64_t limit = p->memory.limit;
	struct walk w = { .p = p };
	struct pd_moment at;
	uint64_t weight;

	if (!event)
		return -1;
	weight = pp_weigh(&event->weigher, sample);
	w.node = event->root;
	p->memory.limit = limit / 4;	/* merging needs twice as much, and there are names */
	pd_record_moment(pd_reader_record(r, sample), &at);
	go_to_task(&w, sample, &at);
	add_stack(&w, sample);
	note_thread(p, sample);
	p->memory.limit = limit;
	if (w.node == PP_NONE) {
		w.node = event->small;
		p->counts.small++;
	}
	p->tree.nodes[w.node].weight += weight;
	p->tree.nodes[w.node].samples++;
	event->weight += weight;
	event->samples++;
	p->counts.samples++;
	note_time(&p->counts, sample);
	return keep_item(p, sample, &at, &(struct pp_item){ PP_ITEM_SAMPLE, 0, weight, w.node });
}

static void count_record(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *item)
{
	uint64_t lost;

	if (item->type == PD_RECORD_THROTTLE)
		p->counts.throttled++;
	else if ((item->type == PD_RECORD_LOST || item->type == PD_RECORD_LOST_SAMPLES) &&
		 pd_record_get_number(pd_reader_record(r, item), "lost", &lost))
		p->counts.lost += lost;
}

static int add_item(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *item)
{
	struct pd_filter *filter = p->options.filter;

	if (filter && pd_filter_keeps(filter, pd_reader_record(r, item)) != 1)
		return 0;
	if (item->type == PD_RECORD_SWITCH || item->type == PD_RECORD_SWITCH_CPU_WIDE)
		return add_switch(p, r, item);
	if (item->type != PD_RECORD_SAMPLE)
		count_record(p, r, item);
	else if (item->attr)
		return add_sample(p, r, item);
	return 0;
}

int pp_add(struct pp_profile *p, struct pd_reader *r, struct pd_error *e)
{
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = {
		sizeof(batch), items, sizeof(*items), BATCH,
		PD_HAS_PID | PD_HAS_TID | PD_HAS_CPU | PD_HAS_TIME | PD_HAS_IP | PD_HAS_PERIOD |
			PD_HAS_ID | PD_HAS_CALLCHAIN
	};
	int n;

	while ((n = pd_reader_next_fields(r, &batch, e)) > 0)
		for (int i = 0; i < n; i++)
			if (add_item(p, r, &items[i]))
				return fail(e, PD_E_LIMIT);
	return n;
}
