/* add.c - reads samples into a profile. */
#include <stdio.h>
#include <string.h>

#include "pd/tree.h"
#include "base/argument.h"
#include "profile/events.h"
#include "profile/firsts.h"
#include "profile/keep.h"
#include "profile/stack.h"
#include "profile/switches.h"
#include "profile/threads.h"
#include "profile/walk.h"

enum { BATCH = 256 };

static int set_add_error(const struct pp_profile *p, struct pd_error *e, enum pd_code code)
{
	*e = pp_tracks_error(&p->tracks);
	if (e->code != PD_OK)
		return -1;
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL,
				.text = code == PD_E_COUNT ? PP_TOO_HEAVY : NULL };
	return -1;
}

/* --- threads --- */

static void note_thread(struct pp_profile *p, const struct pd_task *task)
{
	pp_threads_note(p, &(struct pp_thread){ task->machine_pid, task->pid, task->tid });
}

/* --- a sample --- */

static void add_task(struct pp_walk *w, struct pd_reader *r, const struct pd_fields *sample,
		     const struct pp_stack *s)
{
	if (s->recent && s->recent->is_known) {
		w->node = s->recent->task_node;
		return;
	}
	pp_walk_to_task(w, r, sample, &s->task);
	if (s->recent && w->node != PP_NONE)
		pp_recent_keep_task(s->recent, &s->task, w->node);
}

static void add_stack(struct pp_walk *w, const struct pd_fields *sample, const struct pp_stack *s)
{
	struct pp_profile *p = w->p;

	if (s->is_small)
		w->node = PP_NONE;
	else if (s->same)
		w->node = s->recent->nodes[s->same - 1];
	else if (s->is_cut)
		pp_walk_to_text(w, PP_KIND_CUT, "");
	for (size_t n = s->nr; n-- && w->node != PP_NONE;) {
		pp_walk_to(w, pp_stack_frame(p, sample, s, &s->items[n]));
		if (s->recent)
			pp_recent_set_node(s->recent, s->same + s->nr - 1 - n, w->node);
	}
	if (!s->recent || s->is_small)
		return;
	s->recent->is_cut = s->is_cut;
	s->recent->nr_entries = 0;
	if (w->node != PP_NONE)
		pp_recent_keep_chain(s->recent, sample, s->same + s->nr);
}

static bool has_time(const struct pd_fields *item)
{
	return item->has & PD_HAS_TIME && item->time < PP_NO_TIME_FROM;
}

static void note_time(struct pp_profile *p, const struct pd_fields *sample,
		      const struct pp_weigher *w)
{
	if (!has_time(sample))
		return;
	pp_note_span(p, sample->time);
	if (w->is_time || w->frequency)
		pp_phase_note(&p->phase, sample->has & PD_HAS_CPU ? sample->cpu : 0, sample->time);
}

/* Notes a sample of a node, before it is counted. */
static void note_first(struct pp_profile *p, const struct pd_fields *sample, uint32_t node)
{
	const struct pp_first first = {
		.time = sample->has & PD_HAS_TIME && sample->time != PD_NO_TIME ? sample->time : 0,
		.number = p->counts.samples,
	};

	if (p->options.keep == PP_KEEP_SAMPLES && p->options.state == PP_ON_CPU)
		pp_firsts_note(p, node, &first);
}

/* Keeps what formats with times need. Returns 0, or -1 without memory. */
static int keep_item(struct pp_profile *p, uint32_t track, const struct pd_fields *record,
		     const struct pd_task *task, const struct pd_moment *at,
		     const struct pp_item *item)
{
	struct pp_item timed = *item;

	timed.time = record->has & PD_HAS_TIME ? record->time : 0;
	if (track != PP_NONE && pp_tracks_add(&p->tracks, track, &p->strings, &p->memory,
					      p->options.history, task, at, &timed) == 0)
		return 0;
	return pp_keep_none(p);
}

/* The same for a sample; the track is that of the samples that agree. */
static int keep_sample(struct pp_profile *p, const struct pd_fields *sample,
		       const struct pp_stack *s, const struct pp_item *item)
{
	uint32_t *known = s->recent && s->recent->is_known ? &s->recent->track : NULL, track;

	if (p->options.keep == PP_KEEP_SUMS)
		return 0;
	track = known && *known != PP_NONE ? *known : pp_tracks_number(&p->tracks, &s->task);
	if (known)
		*known = track;
	return keep_item(p, track, sample, &s->task, &s->at, item);
}

/* Counts a sample, and hands it on. */
static enum pd_code hand_on(struct pp_profile *p, struct pd_reader *r,
			    const struct pd_fields *sample, const struct pp_stack *stack,
			    struct pp_counted_event *event, uint64_t weight)
{
	uint64_t sum;

	if (stack->is_small)
		return PD_E_LIMIT;
	if (__builtin_add_overflow(event->weight, weight, &sum))
		sum = UINT64_MAX;	/* each is shown by itself */
	event->weight = sum;
	event->samples++;
	p->counts.samples++;
	return p->each->take(p->each->ctx, r, sample, stack, event, weight);
}

static void note_heaviest(struct pp_counted_event *e, uint64_t weight, uint64_t offset)
{
	if (weight <= e->heaviest)
		return;
	e->heaviest = weight;
	e->heaviest_at = offset;
}

/* Returns the event that a sample's weight is added to: waits, and for --wall times, are the
 * profile's own. */
static uint32_t choose_event(const struct pp_profile *p, const struct pp_counted_event *event)
{
	const struct pp_weigher *w = &event->weigher;
	const enum pp_state state = p->options.state;

	if (state != PP_ON_CPU && (w->is_wait || (state == PP_WALL && event->is_wall_clock)))
		return p->offcpu.event;
	return (uint32_t)(event - p->events);
}

/* Adds a stack to an event. */
static enum pd_code add_weight(struct pp_profile *p, struct pd_reader *r,
			       const struct pd_fields *sample, const struct pp_stack *stack,
			       struct pp_counted_event *event, uint64_t weight, enum pp_use use)
{
	const bool is_wait = p->options.state != PP_ON_CPU && event->weigher.is_wait;
	const uint64_t limit = p->memory.limit;
	struct pp_item item = { .kind = PP_ITEM_SAMPLE, .weight = weight };
	struct pp_walk w = { .p = p };
	uint32_t into;

	if (!event->is_wanted && p->options.state == PP_ON_CPU)
		return PD_OK;
	if (p->each && use == PP_COUNTED)
		return hand_on(p, r, sample, stack, event, weight);
	if (use == PP_COUNTED && !pp_is_credible(&event->weigher, weight)) {
		p->counts.too_heavy++;
		return PD_OK;
	}
	into = choose_event(p, event);
	w.node = p->events[into].root;
	p->memory.limit = limit / 4;	/* merging needs twice as much, and there are names */
	add_task(&w, r, sample, stack);
	if (is_wait)
		pp_walk_to_text(&w, PP_KIND_WAIT, "[blocked]");
	p->offcpu.waits += is_wait && use == PP_COUNTED;
	add_stack(&w, sample, stack);
	p->memory.limit = limit;
	if (p->options.state != PP_ON_CPU && !is_wait && sample->has & PD_HAS_TID && sample->tid &&
	    pp_offcpu_note(p, pp_thread_key(&stack->task), w.node, event->weigher.is_switch ?
			   PP_STACK_OF_SWITCH : PP_STACK_OF_SAMPLE))
		return PD_E_LIMIT;
	if (use != PP_COUNTED)
		return PD_OK;
	item.node = w.node == PP_NONE ? p->events[into].small : w.node;
	note_first(p, sample, item.node);
	if (pp_events_weigh(p, into, w.node, weight))
		return PD_E_COUNT;
	note_heaviest(&p->events[into], weight, sample->offset);
	return keep_sample(p, sample, stack, &item) ? PD_E_LIMIT : PD_OK;
}

/* Adds the sample to each event of its group. Ids that no event has count for the sample's own. */
static enum pd_code add_values(struct pp_profile *p, struct pd_reader *r,
			       const struct pd_fields *sample, const struct pp_stack *stack,
			       const struct pp_weigher *w, enum pp_use use)
{
	const uint64_t thread = w->is_inherited && sample->has & PD_HAS_TID ?
		(uint32_t)sample->tid : 0;

	if (pp_reads_take(&p->reads, &p->memory, pd_reader_record(r, sample),
			  sample->has & PD_HAS_ID ? sample->id : 0, thread))
		return PD_E_LIMIT;
	for (size_t i = 0; i < p->reads.nr_parts; i++) {
		const struct pd_attr *a = pd_reader_attr_by_id(r, p->reads.parts[i].id);
		struct pp_counted_event *event = pp_events_of(p, r, a ? a : sample->attr);
		enum pd_code code;

		if (!event)
			return PD_E_LIMIT;
		if (p->reads.enabled > event->enabled) {
			event->enabled = p->reads.enabled;
			event->running = p->reads.running;
		}
		code = add_weight(p, r, sample, stack, event, p->reads.parts[i].value, use);
		if (code != PD_OK)
			return code;
	}
	return PD_OK;
}

/* A sample that the filter leaves out. */
static enum pd_code follow_sample(struct pp_profile *p, struct pd_reader *r,
				  const struct pd_fields *sample)
{
	const struct pp_counted_event *event = pp_events_of(p, r, sample->attr);

	if (!event)
		return PD_E_LIMIT;
	if (event->weigher.is_switch)
		return pp_switch_by_sample(p, r, sample, PP_LEFT_OUT);
	/* else the sample is of another CPU */
	if (pd_filter_has_test(p->options.filter) && sample->has & PD_HAS_TID && sample->tid)
		return pp_offcpu_leave_out(p, pp_thread_of(p, sample)) ? PD_E_LIMIT : PD_OK;
	return PD_OK;
}

static enum pd_code add_sample(struct pp_profile *p, struct pd_reader *r,
			       const struct pd_fields *sample, enum pp_use use)
{
	struct pp_counted_event *event = pp_events_of(p, r, sample->attr);
	struct pd_moment at;
	struct pp_stack stack;
	enum pd_code code;

	if (!event)
		return PD_E_LIMIT;
	if (!event->is_wanted && !event->weigher.is_read && p->options.state == PP_ON_CPU)
		return PD_OK;
	pd_record_moment(pd_reader_record(r, sample), &at);
	if (!(sample->has & PD_HAS_TIME))
		at.time = PD_NO_TIME;	/* also of a wrong time */
	pp_stack_read(p, r, sample, event, &at, &stack);
	if (use == PP_COUNTED) {
		if (!stack.recent || !stack.recent->is_known)
			note_thread(p, &stack.task);
		note_time(p, sample, &event->weigher);
	}
	if (event->weigher.is_read) {
		const struct pp_weigher w = event->weigher;	/* events may move */

		return add_values(p, r, sample, &stack, &w, use);
	}
	code = add_weight(p, r, sample, &stack, event, pp_weigh(&event->weigher, sample), use);
	if (code == PD_OK && p->options.state != PP_ON_CPU && event->weigher.is_switch)
		code = pp_switch_by_sample(p, r, sample, use);
	return code;
}

/* --- records --- */

static void count_record(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *item)
{
	uint64_t lost;

	if (item->type == PD_RECORD_THROTTLE)
		p->counts.throttled++;
	else if ((item->type == PD_RECORD_LOST || item->type == PD_RECORD_LOST_SAMPLES) &&
		 pd_record_get_number(pd_reader_record(r, item), "lost", &lost))
		*(item->type == PD_RECORD_LOST ? &p->counts.lost : &p->lost_samples) += lost;
}

static enum pd_code add_switch(struct pp_profile *p, struct pd_reader *r,
			       const struct pd_fields *record, enum pp_use use)
{
	struct pp_item item = { .kind = PP_ITEM_RUNS };
	struct pd_moment at;
	struct pd_task task;

	if (record->misc & MISC_SWITCH_OUT)
		item.kind = record->misc & MISC_SWITCH_OUT_PREEMPT ? PP_ITEM_PREEMPTED :
								     PP_ITEM_BLOCKED;
	pd_record_moment(pd_reader_record(r, record), &at);
	pd_history_fields_task(p->options.history, record, &at, &task);
	if (p->options.keep != PP_KEEP_SUMS && use == PP_COUNTED &&
	    keep_item(p, pp_tracks_number(&p->tracks, &task), record, &task, &at, &item))
		return PD_E_LIMIT;
	return p->options.state == PP_ON_CPU ? PD_OK : pp_switch_by_record(p, r, record, use);
}

/* A thread that begins or ends. */
static enum pd_code add_life(struct pp_profile *p, const struct pd_fields *item)
{
	if (p->options.state == PP_ON_CPU || !has_time(item))
		return PD_OK;
	if (item->type == PD_RECORD_EXIT)
		return pp_offcpu_exit(p, pp_thread_of(p, item), item->time) ? PD_E_LIMIT : PD_OK;
	pp_offcpu_fork(p, pp_thread_of(p, item));
	return PD_OK;
}

static enum pd_code add_other(struct pp_profile *p, struct pd_reader *r,
			      const struct pd_fields *item, enum pp_use use)
{
	if (use == PP_COUNTED)
		count_record(p, r, item);
	if (item->type == PD_RECORD_SWITCH || item->type == PD_RECORD_SWITCH_CPU_WIDE)
		return add_switch(p, r, item, use);
	if (item->type == PD_RECORD_EXIT || item->type == PD_RECORD_FORK)
		return add_life(p, item);
	return PD_OK;
}

/* Waits are followed through records that do not count. */
static enum pp_use use_of(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *item)
{
	struct pd_filter *filter = p->options.filter;
	const bool is_timed = p->options.state != PP_ON_CPU && has_time(item);

	if (is_timed && item->time > p->offcpu.last)
		p->offcpu.last = item->time;
	if (filter && pd_filter_keeps(filter, pd_reader_record(r, item)) != 1)
		return PP_LEFT_OUT;
	if (!is_timed)
		return PP_COUNTED;
	return item->time < p->time.from || item->time > p->time.to ? PP_NOTED : PP_COUNTED;
}

/* Returns the sample, or *own: the same without its time, if that is damaged. */
static const struct pd_fields *without_wrong_time(struct pp_profile *p,
						  const struct pd_fields *sample,
						  struct pd_fields *own)
{
	if (p->each || !has_time(sample) || !sample->time ||
	    (sample->time >= p->credible.from && sample->time <= p->credible.to))
		return sample;
	p->counts.wrong_times++;
	*own = *sample;
	own->has &= ~(uint32_t)PD_HAS_TIME;
	own->time = 0;
	return own;
}

static enum pd_code add_item(struct pp_profile *p, struct pd_reader *r,
			     const struct pd_fields *item)
{
	struct pd_fields own;
	enum pp_use use;

	if (item->type == PD_RECORD_SAMPLE)
		item = without_wrong_time(p, item, &own);
	use = use_of(p, r, item);
	if (use == PP_LEFT_OUT && p->options.state == PP_ON_CPU)
		return PD_OK;
	if (item->type != PD_RECORD_SAMPLE)
		return add_other(p, r, item, use);
	if (!item->attr) {
		p->counts.no_event += use == PP_COUNTED;
		return PD_OK;
	}
	return use == PP_LEFT_OUT ? follow_sample(p, r, item) : add_sample(p, r, item, use);
}

/* The event of the times, before all others. */
static int start_offcpu(struct pp_profile *p)
{
	struct pp_weigher w = { .is_time = true, .is_off_cpu = true };

	if (p->options.state == PP_ON_CPU || p->nr_events)
		return 0;
	snprintf(w.name, sizeof(w.name), "%s",
		 p->options.state == PP_WALL ? "wall-clock" : "off-CPU");
	p->offcpu.event = pp_events_add(p, &w);
	return p->offcpu.event == PP_NONE ? -1 : 0;
}

/* Keeps the recorder's command, the words of which are apart; the first 4 KiB of it. */
static void keep_command(struct pp_profile *p, struct pd_reader *r)
{
	const struct pd_item *words, *word = NULL;
	struct pd_tree *tree = pd_tree_new(NULL);
	char text[4096];
	size_t size = 0;
	struct pd_error e = { .code = PD_OK };

	words = pd_item_get(pd_tree_read_feature(tree, r, PD_FEATURE_CMDLINE, &e), "CMDLINE");
	p->memory.refused |= !tree || pd_code_is_of_memory(e.code);
	while (words && (word = pd_item_next(words, word)) && size < sizeof(text)) {
		const size_t left = sizeof(text) - size;
		const int n = snprintf(text + size, left, "%s%.*s", size ? " " : "",
				       (int)word->bytes.size, (const char *)word->bytes.data);

		size += n < 0 || (size_t)n >= left ? left : (size_t)n;
	}
	if (size)
		p->command = pp_strings_add(&p->strings, &p->memory, text, strlen(text));
	pd_tree_free(tree);
}

int pp_add(struct pp_profile *p, struct pd_reader *r, struct pd_error *e)
{
	return pp_add_records(p, r, UINT64_MAX, e);
}

int pp_add_records(struct pp_profile *p, struct pd_reader *r, uint64_t count, struct pd_error *e)
{
	struct pd_error unused;
	struct pd_fields items[BATCH];
	struct pd_fields_batch batch = {
		sizeof(batch), items, sizeof(*items), BATCH,
		PD_HAS_PID | PD_HAS_TID | PD_HAS_CPU | PD_HAS_TIME | PD_HAS_IP | PD_HAS_PERIOD |
			PD_HAS_ID | PD_HAS_CALLCHAIN
	};
	enum pd_code code;
	int n = 0;

	e = pd_error_or(e, &unused);
	if (!p || !r || p->is_closed)
		return pd_refuse(e, "no profile that is not merged, or no reader");
	if (start_offcpu(p))
		return set_add_error(p, e, PD_E_LIMIT);
	pd_reader_credible_times(r, &p->credible);
	for (; count; count -= (uint64_t)n) {
		batch.capacity = count < BATCH ? (size_t)count : BATCH;
		n = pd_reader_next_fields(r, &batch, e);
		if (n <= 0)
			break;
		for (int i = 0; i < n; i++) {
			code = add_item(p, r, &items[i]);
			if (code != PD_OK)
				return set_add_error(p, e, code);
		}
		if (p->options.on_progress)
			p->options.on_progress(p->options.ctx, items[n - 1].offset);
	}
	if (pp_offcpu_end(p))
		return set_add_error(p, e, PD_E_COUNT);
	keep_command(p, r);
	p->counts.is_unfinished |= !pd_reader_file(r)->complete;
	return n < 0 ? -1 : 0;
}
