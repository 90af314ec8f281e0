/* append.c - adds what the profile of a later part of a recording has, as if one had read both. */
#include <string.h>

#include "base/argument.h"
#include "profile/events.h"
#include "profile/firsts.h"
#include "profile/keep.h"
#include "profile/threads.h"

struct appending {
	struct pp_profile *p, *later;
	/* Numbers in p of what the later one has; PP_NONE: not there yet, or no memory for it. */
	uint32_t *frames, *nodes;
};

static uint32_t add_string(struct appending *a, uint32_t i)
{
	const struct pd_bytes text = pp_strings_at(&a->later->strings, i);

	return pp_strings_add(&a->p->strings, &a->p->memory, (const char *)text.data, text.size);
}

/* Texts of frames are strings. */
static uint32_t add_frame(struct appending *a, uint32_t i)
{
	struct pp_profile *p = a->p;
	struct pp_frame frame = a->later->frames.items[i];

	if (a->frames[i] != PP_NONE)
		return a->frames[i];
	if (frame.text != PP_NONE) {
		frame.text = add_string(a, frame.text);
		if (frame.text == PP_NONE)
			return PP_NONE;
	}
	return a->frames[i] = pp_frames_add(&p->frames, &p->memory, &frame);
}

/* Returns the event in p of a root of the later tree, added if new; PP_NONE without memory. */
static uint32_t add_event(struct appending *a, const struct pp_node *root)
{
	const uint32_t event = a->later->frames.items[root->frame].text;

	return pp_events_take(a->p, &a->later->events[event]);
}

static int add_root(struct appending *a, size_t i)
{
	const uint32_t event = add_event(a, &a->later->tree.nodes[i]);

	if (event == PP_NONE)
		return -1;
	a->nodes[i] = a->p->events[event].root;
	return 0;
}

/* Returns the node in p of one of the later tree, or where its samples are counted without one:
 * "[small]". */
static uint32_t node_of(struct appending *a, uint32_t i)
{
	const struct pp_node *nodes = a->later->tree.nodes;
	uint32_t root = i;

	if (a->nodes[i] != PP_NONE)
		return a->nodes[i];
	while (nodes[root].parent != PP_NONE)
		root = nodes[root].parent;
	return a->p->events[add_event(a, &nodes[root])].small;
}

/* Notes the first sample of a node of the later tree, if one has been noted. */
static void add_first(struct appending *a, size_t i, uint32_t into)
{
	const struct pp_first *later = pp_firsts_of(a->later, (uint32_t)i);

	if (later)
		pp_firsts_note(a->p, into, &(struct pp_first){
			later->time, a->p->counts.samples + later->number });
}

static void add_node(struct appending *a, size_t i)
{
	struct pp_profile *p = a->p;
	const struct pp_node *n = &a->later->tree.nodes[i];
	const uint32_t parent = a->nodes[n->parent];
	const uint32_t frame = parent == PP_NONE ? PP_NONE : add_frame(a, n->frame);
	uint32_t into;

	if (frame != PP_NONE)
		a->nodes[i] = pp_tree_child(&p->tree, &p->memory, parent, frame);
	if (a->nodes[i] == PP_NONE)
		p->counts.small += n->samples;
	into = node_of(a, (uint32_t)i);
	add_first(a, i, into);
	p->tree.nodes[into].weight += n->weight;
	p->tree.nodes[into].samples += n->samples;
}

static int add_nodes(struct appending *a)
{
	const struct pp_tree *t = &a->later->tree;

	for (size_t i = 0; i < t->nr; i++)
		if (t->nodes[i].parent != PP_NONE)
			add_node(a, i);
		else if (add_root(a, i))
			return -1;
	return 0;
}

/* Adds the sums of the events. Returns PD_OK, or PD_E_COUNT. */
static enum pd_code add_events(struct appending *a)
{
	for (size_t i = 0; i < a->later->nr_events; i++) {
		const struct pp_counted_event *from = &a->later->events[i];
		struct pp_counted_event *to = &a->p->events[pp_events_take(a->p, from)];

		if (__builtin_add_overflow(to->weight, from->weight, &to->weight))
			return PD_E_COUNT;
		to->samples += from->samples;
		if (from->heaviest > to->heaviest) {
			to->heaviest = from->heaviest;
			to->heaviest_at = from->heaviest_at;
		}
	}
	return PD_OK;
}

static void add_counts(struct pp_counts *to, const struct pp_counts *from)
{
	to->samples += from->samples;
	to->lost += from->lost;
	to->throttled += from->throttled;
	to->cut += from->cut;
	to->copies_cut += from->copies_cut;
	to->copies_short += from->copies_short;
	to->copies_foreign += from->copies_foreign;
	to->copies_unverified += from->copies_unverified;
	to->copies_mismatched += from->copies_mismatched;
	to->copies_no_file += from->copies_no_file;
	to->copies_jit += from->copies_jit;
	to->lone += from->lone;
	to->chains += from->chains;
	to->no_address += from->no_address;
	to->no_event += from->no_event;
	to->small += from->small;
	to->too_heavy += from->too_heavy;
	to->wrong_times += from->wrong_times;
	if (from->first != PD_NO_TIME && (to->first == PD_NO_TIME || from->first < to->first))
		to->first = from->first;
	if (from->last != PD_NO_TIME && (to->last == PD_NO_TIME || from->last > to->last))
		to->last = from->last;
	to->is_unfinished |= from->is_unfinished;
	to->lacks_times |= from->lacks_times;
}

/* Items without a time have that of the item before, which may be in another part. */
static uint64_t time_of(const struct pp_item *item, const struct pp_track *to)
{
	return item->time ? item->time : to->last;
}

static int add_track(struct appending *a, const struct pp_track *from)
{
	struct pp_tracks *tracks = &a->p->tracks;
	struct pp_track *to = pp_tracks_find(tracks, from);
	struct pp_track_reader r = pp_track_read(&a->later->tracks, from);
	struct pp_item item = { 0 };

	if (!to)
		return -1;
	if (to->comm == PP_NONE || !from->named_at || from->named_at >= to->named_at) {
		to->comm = add_string(a, from->comm);
		to->process = add_string(a, from->process);
		to->process_start = from->process_start;
		to->named = from->named;
		to->named_at = from->named_at ? from->named_at : to->last;
		if (to->comm == PP_NONE || to->process == PP_NONE)
			return -1;
	}
	while (pp_track_next(&r, &item)) {
		struct pp_item moved = item;

		moved.time = time_of(&item, to);
		if (item.kind == PP_ITEM_SAMPLE)
			moved.node = node_of(a, item.node);
		if (pp_track_add(tracks, (uint32_t)(to - tracks->items), &moved))
			return -1;
	}
	return 0;
}

/* Samples that are kept one by one, in the order of the parts. */
static int add_tracks(struct appending *a)
{
	struct pp_profile *p = a->p;
	const struct pp_tracks *from = &a->later->tracks;
	int ret = 0;

	if (p->options.keep == PP_KEEP_SUMS || a->later->options.keep == PP_KEEP_SUMS)
		return pp_keep_none(p);
	for (size_t i = 0; i < from->nr && !ret; i++)
		ret = add_track(a, &from->items[i]);
	return ret ? pp_keep_none(p) : 0;
}

static enum pd_code append_profile(struct appending *a)
{
	const uint64_t limit = a->p->memory.limit;
	enum pd_code code;
	int ret;

	memset(a->frames, 0xff, a->later->frames.nr * sizeof(*a->frames));
	memset(a->nodes, 0xff, a->later->tree.nr * sizeof(*a->nodes));
	a->p->memory.limit = limit / 4;		/* as where samples are added */
	ret = add_nodes(a);
	a->p->memory.limit = limit;
	code = ret ? PD_E_LIMIT : add_events(a);
	if (code != PD_OK)
		return code;
	add_counts(&a->p->counts, &a->later->counts);
	a->p->memory.refused |= a->later->memory.refused;
	a->p->lost_samples += a->later->lost_samples;
	pp_phase_add(&a->p->phase, &a->later->phase);
	for (size_t i = 0; i < a->later->nr_threads; i++)
		pp_threads_note(a->p, &a->later->threads[i]);
	return add_tracks(a) ? PD_E_LIMIT : PD_OK;
}

static int set_append_error(struct pd_error *e, enum pd_code code)
{
	if (e)
		*e = (struct pd_error){ .code = code, .severity = PD_FATAL,
				.text = code == PD_E_COUNT ? PP_TOO_HEAVY : NULL };
	return -1;
}

int pp_append(struct pp_profile *p, struct pp_profile *later, struct pd_error *e)
{
	struct appending a = { .p = p, .later = later };
	enum pd_code code = PD_E_LIMIT;
	struct pp_memory *m;

	if (!p || !later || p == later || p->is_closed || later->is_closed)
		return pd_refuse(e, "no two profiles that are not merged");
	m = &later->memory;
	a.frames = pp_memory_zeroed(m, later->frames.nr, sizeof(*a.frames));
	a.nodes = pp_memory_zeroed(m, later->tree.nr, sizeof(*a.nodes));
	if (a.frames && a.nodes)
		code = append_profile(&a);
	pp_memory_free(m, a.frames, later->frames.nr, sizeof(*a.frames));
	pp_memory_free(m, a.nodes, later->tree.nr, sizeof(*a.nodes));
	return code == PD_OK ? 0 : set_append_error(e, code);
}

/* Waits, and what counters in samples have counted, begin in one part and end in another. */
bool pp_is_divisible(const struct pp_profile *p, const struct pd_reader *r)
{
	struct pp_weigher w;

	if (!p || !r || p->options.state != PP_ON_CPU || p->options.filter ||
	    p->options.pmus == PP_PMUS_MERGED)
		return false;
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		pp_weigher_init(&w, r, pd_reader_attr(r, i));
		if (w.is_read)
			return false;
	}
	return true;
}
