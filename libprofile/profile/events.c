/* events.c - the events of a profile: each is a root of the tree. */
#include "profile/events.h"

#include <string.h>

static uint32_t add_note(struct pp_profile *p, uint32_t parent, const char *text)
{
	const uint32_t id = pp_strings_add(&p->strings, &p->memory, text, strlen(text));
	uint32_t frame;

	if (id == PP_NONE)
		return PP_NONE;
	frame = pp_frames_add_text(&p->frames, &p->memory, PP_KIND_NOTE, id);
	return frame == PP_NONE ? PP_NONE : pp_tree_child(&p->tree, &p->memory, parent, frame);
}

uint32_t pp_events_add(struct pp_profile *p, const struct pp_weigher *w)
{
	struct pp_counted_event event = { .weigher = *w, .attr = SIZE_MAX, .is_wanted = true };
	struct pp_counted_event *events;
	uint32_t frame;

	events = pp_memory_grow(&p->memory, p->events, &p->events_capacity, p->nr_events + 1,
				sizeof(*events));
	if (!events)
		return PP_NONE;
	p->events = events;
	frame = pp_frames_add_text(&p->frames, &p->memory, PP_KIND_EVENT, (uint32_t)p->nr_events);
	if (frame == PP_NONE)
		return PP_NONE;
	event.root = pp_tree_child(&p->tree, &p->memory, PP_NONE, frame);
	if (event.root == PP_NONE)
		return PP_NONE;
	event.small = add_note(p, event.root, "[small]");
	if (event.small == PP_NONE)
		return PP_NONE;
	p->events[p->nr_events] = event;
	return (uint32_t)p->nr_events++;
}

static bool wants_event(const struct pp_profile *p, const struct pd_attr *a)
{
	const struct pp_options *o = &p->options;

	return !o->wants_event || o->wants_event(o->ctx, pd_attr_name(a));
}

/* PMU/EVENT/MODIFIERS becomes EVENT:MODIFIERS. */
static void leave_out_pmu(char name[sizeof(((struct pp_weigher *)0)->name)])
{
	char *first = strchr(name, '/'), *last = strrchr(name, '/');

	if (!first || first == last)
		return;
	if (last[1] && last[1] != ':')
		*last = ':';
	else
		memmove(last, last + 1, strlen(last + 1) + 1);
	memmove(name, first + 1, strlen(first + 1) + 1);
}

/* Returns an event whose samples are to be read and weighed like those of `w`, or PP_NONE. */
static uint32_t find_same(const struct pp_profile *p, const struct pp_weigher *w, bool is_wanted)
{
	for (uint32_t i = 0; i < p->nr_events; i++) {
		const struct pp_weigher *have = &p->events[i].weigher;

		if (strcmp(have->name, w->name) == 0 && p->events[i].is_wanted == is_wanted &&
		    have->is_time == w->is_time && have->is_read == w->is_read &&
		    have->is_inherited == w->is_inherited && !have->is_off_cpu &&
		    have->copies_stacks == w->copies_stacks &&
		    have->has_call_stacks == w->has_call_stacks &&
		    have->has_no_weight == w->has_no_weight)
			return i;
	}
	return PP_NONE;
}

/* Returns the index of the first wanted clock: two clocks see the same time. */
static size_t find_first_clock(struct pp_profile *p, struct pd_reader *r)
{
	for (; p->first_clock < pd_reader_nr_attrs(r); p->first_clock++) {
		const struct pd_attr *a = pd_reader_attr(r, p->first_clock);
		struct pp_weigher w;

		pp_weigher_init(&w, r, a);
		if (w.is_time && !w.is_wait && wants_event(p, a))
			break;
	}
	return p->first_clock;
}

static uint32_t make_event(struct pp_profile *p, struct pd_reader *r, const struct pd_attr *a)
{
	const bool is_wanted = wants_event(p, a);
	uint32_t event = PP_NONE;
	struct pp_weigher w;

	pp_weigher_init(&w, r, a);
	if (p->options.pmus == PP_PMUS_MERGED) {
		leave_out_pmu(w.name);
		event = find_same(p, &w, is_wanted);
	}
	if (event != PP_NONE)
		return event;
	event = pp_events_add(p, &w);
	if (event == PP_NONE)
		return PP_NONE;
	p->events[event].attr = pd_attr_index(a);
	p->events[event].is_wanted = is_wanted;
	p->events[event].is_wall_clock = w.is_time &&
		find_first_clock(p, r) == pd_attr_index(a);
	return event;
}

/* The leader of a group may be unwanted while its members are not: its layout is needed. */
static struct pp_counted_event *note_unwanted(struct pp_profile *p, struct pd_reader *r,
					      const struct pd_attr *a)
{
	if (!p->has_unwanted || p->unwanted.attr != pd_attr_index(a)) {
		p->unwanted = (struct pp_counted_event){ .attr = pd_attr_index(a) };
		pp_weigher_init(&p->unwanted.weigher, r, a);
		p->has_unwanted = true;
	}
	return &p->unwanted;
}

/* Returns the place of the number of an attribute's event, or NULL without memory. */
static uint32_t *number_of(struct pp_profile *p, size_t attr)
{
	const size_t before = p->attrs_capacity;
	uint32_t *events;

	if (attr < before)
		return &p->event_of_attr[attr];
	events = pp_memory_grow(&p->memory, p->event_of_attr, &p->attrs_capacity, attr + 1,
				sizeof(*events));
	if (!events)
		return NULL;
	p->event_of_attr = events;
	memset(events + before, 0xff, (p->attrs_capacity - before) * sizeof(*events));
	return &events[attr];
}

struct pp_counted_event *pp_events_of(struct pp_profile *p, struct pd_reader *r,
				      const struct pd_attr *a)
{
	uint32_t *number = number_of(p, pd_attr_index(a));

	if (!number)
		return NULL;
	if (*number == PP_NONE && p->options.state == PP_ON_CPU && !wants_event(p, a))
		return note_unwanted(p, r, a);
	if (*number == PP_NONE)
		*number = make_event(p, r, a);
	return *number == PP_NONE ? NULL : &p->events[*number];
}

uint32_t pp_events_take(struct pp_profile *p, const struct pp_counted_event *other)
{
	uint32_t *number = number_of(p, other->attr);

	if (!number || *number != PP_NONE)
		return number ? *number : PP_NONE;
	*number = pp_events_add(p, &other->weigher);
	if (*number != PP_NONE) {
		p->events[*number].attr = other->attr;
		p->events[*number].is_wanted = other->is_wanted;
		p->events[*number].is_wall_clock = other->is_wall_clock;
	}
	return *number;
}

int pp_events_weigh(struct pp_profile *p, uint32_t event, uint32_t node, uint64_t weight)
{
	struct pp_counted_event *e = &p->events[event];
	uint64_t sum;

	/* no node has more than its event */
	if (__builtin_add_overflow(e->weight, weight, &sum))
		return -1;
	e->weight = sum;
	if (node == PP_NONE) {
		node = e->small;
		p->counts.small++;
	}
	p->tree.nodes[node].weight += weight;
	p->tree.nodes[node].samples++;
	e->samples++;
	p->counts.samples++;
	return 0;
}
