/* out_pprof.c - a profile for pprof: profile.proto, gzip around it.
 *
 * Locations are addresses, so that pprof can show lines and disassemble; all events are columns.
 * A sample is a stack of a task. In a difference the older recording's samples are there, too, as
 * pprof -diff_base has them: negative, with a label.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/event_names.h"
#include "profile/groups.h"
#include "formats/mappings.h"
#include "encoding/out.h"
#include "encoding/proto.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3,
	MAPPING_ID = 1, MAPPING_START = 2, MAPPING_LIMIT = 3, MAPPING_OFFSET = 4,
	MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8, MAPPING_HAS_LINES = 9, MAPPING_HAS_INLINES = 10,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_NUMBER = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
};

/* Strings of the profile, and their places in the file: 0 is "". */
enum { NO_STRING = 0 };

struct encoding {
	struct pp_out *out;
	struct pp_profile *p;	/* whose samples are written: that of `out`, then its base */
	struct pp_proto proto;
	struct pp_message file, inner, packed, line;
	struct pp_message labels;	/* of the task of the last sample */
	uint32_t task;			/* its innermost node, PP_NONE: none */
	struct pp_strings strings;	/* of the file */
	struct pp_mappings mappings;
	size_t mappings_before;		/* of the other profile */
	uint32_t *functions;		/* of each function: its id, 0: not used */
	uint32_t nr_functions;
	uint32_t *columns;		/* of each event of `p`: its number, PP_NONE: none */
	uint32_t *newer_columns;	/* the same of `out` */
	struct column {
		const char *name;
		size_t event;
		bool is_clock;
	} *order;			/* of the columns, in the order of the file */
	size_t nr_columns;
	size_t clock;			/* the first event that is a time, best on the CPU */
	bool *are_repeated;		/* names of these events */
};

static uint32_t string_of(struct encoding *c, struct pd_bytes text)
{
	return pp_proto_number_of(&c->proto, &c->strings, text);
}

static uint32_t string_of_text(struct encoding *c, const char *text)
{
	return string_of(c, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

static void put_inner(struct encoding *c, unsigned int field, uint64_t n)
{
	pp_proto_number(&c->proto, &c->inner, field, n);
}

/* Writes the fields of the file that are there, which needs no more memory for them then. */
static void put_fields(struct encoding *c)
{
	pp_put(c->out, (const char *)c->file.bytes, c->proto.failed ? 0 : c->file.size);
	c->file.size = 0;
}

/* Ends the inner message: it becomes a field of the file. */
static void end_inner(struct encoding *c, unsigned int field)
{
	pp_proto_part(&c->proto, &c->file, field, &c->inner);
	if (c->file.size >= sizeof(c->out->buffer))
		put_fields(c);
}

/* --- mappings and locations --- */

static void put_mapping(struct encoding *c, size_t i)
{
	const struct pp_mapping *m = &c->mappings.items[i];
	const struct pp_profile *p = c->p;
	char hex[PP_BUILD_ID_TEXT];

	put_inner(c, MAPPING_ID, c->mappings_before + i + 1);
	put_inner(c, MAPPING_START, m->start);
	put_inner(c, MAPPING_LIMIT, m->start + m->len);
	put_inner(c, MAPPING_OFFSET, m->pgoff);
	put_inner(c, MAPPING_FILE, string_of(c, pp_strings_at(&p->strings, m->named->image)));
	put_inner(c, MAPPING_BUILD_ID, string_of_text(c, pp_build_id_of(p, m->named, hex)));
	for (unsigned int has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINES; has++)
		put_inner(c, has, m->has_names);
	end_inner(c, PROFILE_MAPPING);
}

/* pprof calls the first mapping "File": a program. */
static void put_mappings(struct encoding *c)
{
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < c->mappings.nr; i++)
			if (c->mappings.items[i].is_program != others)
				put_mapping(c, i);
}

/* Innermost first. */
static void put_lines(struct encoding *c, uint32_t frame)
{
	const struct pp_profile *p = c->p;

	for (uint32_t k = p->first_step[frame + 1]; k-- > p->first_step[frame];) {
		const uint32_t function = p->steps[k].function;

		if (!c->functions[function])
			c->functions[function] = ++c->nr_functions;
		pp_proto_number(&c->proto, &c->line, LINE_FUNCTION, c->functions[function]);
		pp_proto_number(&c->proto, &c->line, LINE_NUMBER, p->steps[k].line);
		pp_proto_part(&c->proto, &c->inner, LOCATION_LINE, &c->line);
	}
}

/* Without names locations are bare: pprof can then look for names itself. */
static void put_location(struct encoding *c, uint32_t frame)
{
	const struct pp_profile *p = c->p;
	const uint32_t mapping = c->mappings.of_frame[frame];

	put_inner(c, LOCATION_ID, c->mappings.locations[frame]);
	if (mapping != PP_NONE) {
		put_inner(c, LOCATION_MAPPING, c->mappings_before + mapping + 1);
		put_inner(c, LOCATION_ADDRESS, pp_location_address(&c->mappings, frame));
	}
	if (p->options.namer || mapping == PP_NONE)
		put_lines(c, frame);
	end_inner(c, PROFILE_LOCATION);
}

static void put_function(struct encoding *c, size_t i)
{
	const struct pp_named *f = &c->p->functions[i];
	const uint32_t name = string_of(c, pp_strings_at(&c->p->strings, f->name));

	put_inner(c, FUNCTION_ID, c->functions[i]);
	put_inner(c, FUNCTION_NAME, name);
	put_inner(c, FUNCTION_SYSTEM_NAME, name);
	if (f->file != PP_NONE)
		put_inner(c, FUNCTION_FILE,
			  string_of(c, pp_strings_at(&c->p->strings, f->file)));
	end_inner(c, PROFILE_FUNCTION);
}

/* --- samples --- */

static void add_label(struct encoding *c, struct pp_message *to, const char *key, uint32_t text,
		      uint64_t number)
{
	pp_proto_number(&c->proto, &c->line, LABEL_KEY, string_of_text(c, key));
	pp_proto_number(&c->proto, &c->line, LABEL_TEXT, text);
	pp_proto_number(&c->proto, &c->line, LABEL_NUMBER, number);
	pp_proto_part(&c->proto, to, SAMPLE_LABEL, &c->line);
}

static void put_label(struct encoding *c, const char *key, uint32_t text, uint64_t number)
{
	add_label(c, &c->inner, key, text, number);
}

/* The frames above the stacks are labels. */
static void add_group(struct encoding *c, uint32_t frame, enum pp_group group)
{
	static const struct {
		enum pp_group group;
		const char *key;
	} labels[] = {
		{ PP_GROUP_COMM, "comm" }, { PP_GROUP_CGROUP, "cgroup" }, { PP_GROUP_PID, "pid" },
		{ PP_GROUP_TID, "tid" }, { PP_GROUP_CPU, "cpu" },
	};
	const struct pp_profile *p = c->p;
	struct pd_bytes text = pp_strings_at(&p->strings, p->frames.items[frame].text);
	uint64_t number = 0;
	size_t i = 0;

	while (labels[i].group != group)
		i++;
	if (pp_group_number(group, &text, &number))
		add_label(c, &c->labels, labels[i].key, NO_STRING, number);
	else if (text.size)
		add_label(c, &c->labels, labels[i].key, string_of(c, text), 0);
}

static bool is_of_task(const struct pp_profile *p, uint32_t node)
{
	return p->frames.items[p->tree.nodes[node].frame].kind == PP_KIND_THREAD;
}

/* Makes the labels of a task, from the innermost. */
static void set_task(struct encoding *c, uint32_t task)
{
	const struct pp_profile *p = c->p;
	const struct pp_node *nodes = p->tree.nodes;
	size_t n = 0;

	c->task = task;
	c->labels.size = 0;
	for (uint32_t at = task; at != PP_NONE; at = nodes[at].parent)
		n += is_of_task(p, at);
	for (uint32_t at = task; at != PP_NONE; at = nodes[at].parent)
		if (is_of_task(p, at))
			add_group(c, nodes[at].frame,
				  (enum pp_group)pp_group_at(p->options.groups, --n));
}

static bool is_base(const struct encoding *c)
{
	return c->p != c->out->p;
}

/* Returns the column of the newer recording with which an event of the older one is compared: that
 * of the same name, best in the same place, the main one with the main one. */
static uint32_t find_column(const struct encoding *c, size_t event)
{
	const struct pp_profile *newer = c->out->p;
	const size_t found = pp_event_called(newer, c->p->events[event].weigher.name, event);

	if (found != SIZE_MAX)
		return c->newer_columns[found];
	return event == pp_compared_event(c->p, newer, c->out->o.event) ?
		       c->newer_columns[c->out->o.event] : PP_NONE;
}

/* pprof compares only profiles whose columns have one order: not that in which events had their
 * first samples. */
static int compare_columns(const void *a, const void *b)
{
	const struct column *one = a, *two = b;
	const int names = strcmp(one->name, two->name);

	if (one->is_clock != two->is_clock)
		return one->is_clock ? -1 : 1;
	return names ? names : one->event < two->event ? -1 : one->event > two->event;
}

static size_t find_clock(const struct pp_profile *p)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < p->nr_events; i++) {
		const struct pp_weigher *w = &p->events[i].weigher;

		if (!pp_is_column(p, i) || !w->is_time)
			continue;
		if (!w->is_off_cpu)
			return i;
		found = found == SIZE_MAX ? i : found;
	}
	return found;
}

/* Numbers the events of the newer recording. Returns 0, or -1 without memory. */
static int make_columns(struct encoding *c)
{
	struct pp_profile *p = c->out->p;

	c->order = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*c->order));
	c->newer_columns = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*c->newer_columns));
	c->are_repeated = pp_find_repeated_names(p);
	if (!c->order || !c->newer_columns || !c->are_repeated)
		return -1;
	c->clock = find_clock(p);
	for (size_t i = 0; i < p->nr_events; i++) {
		c->newer_columns[i] = PP_NONE;
		if (!pp_is_column(p, i))
			continue;
		c->order[c->nr_columns++] = (struct column){ p->events[i].weigher.name, i,
							     c->clock == i };
	}
	if (c->nr_columns > 1)
		qsort(c->order, c->nr_columns, sizeof(*c->order), compare_columns);
	for (uint32_t i = 0; i < c->nr_columns; i++)
		c->newer_columns[c->order[i].event] = i;
	return 0;
}

static void put_values(struct encoding *c, uint32_t column, uint64_t samples, uint64_t weight)
{
	const uint64_t sign = is_base(c) ? UINT64_MAX : 1;

	pp_proto_zeros(&c->proto, &c->packed, 2 * (size_t)column);
	pp_proto_varint(&c->proto, &c->packed, sign * samples);
	pp_proto_varint(&c->proto, &c->packed, sign * weight);
	pp_proto_zeros(&c->proto, &c->packed, 2 * (c->nr_columns - 1 - column));
	pp_proto_part(&c->proto, &c->inner, SAMPLE_VALUE, &c->packed);
}

/* The mode of the CPU, as perf_to_profile names it. */
static void put_mode(struct encoding *c, uint32_t stack)
{
	static const char *const modes[] = { NULL, "Host Kernel", "Host User", "Hypervisor",
					     "Guest Kernel", "Guest User" };
	const struct pp_frame *f = &c->p->frames.items[c->p->tree.nodes[stack].frame];
	const size_t mode = f->kind <= PP_KIND_UNKNOWN ? f->at.cpumode : 0;

	if (mode < sizeof(modes) / sizeof(*modes) && modes[mode])
		put_label(c, "execution_mode", string_of_text(c, modes[mode]), 0);
}

/* A stack with its values; `time` is PD_NO_TIME without a label for it. */
static void put_sample(struct encoding *c, uint32_t stack, uint64_t samples, uint64_t weight,
		       uint64_t time)
{
	const struct pp_profile *p = c->p;
	const struct pp_node *nodes = p->tree.nodes;
	const uint32_t column = c->columns[p->places[stack].event];
	uint32_t task = PP_NONE;

	if (column == PP_NONE || p->places[stack].is_left_out)
		return;
	for (uint32_t at = stack; at != PP_NONE; at = nodes[at].parent) {
		const uint32_t id = pp_location_of(&c->mappings, nodes[at].frame);

		if (id)
			pp_proto_varint(&c->proto, &c->packed, id);
		else if (task == PP_NONE && is_of_task(p, at))
			task = at;
	}
	pp_proto_part(&c->proto, &c->inner, SAMPLE_LOCATION, &c->packed);
	put_values(c, column, samples, weight);
	if (is_base(c))
		put_label(c, "pprof::base", string_of_text(c, "true"), 0);
	if (task != c->task)
		set_task(c, task);
	pp_proto_bytes(&c->proto, &c->inner, c->labels.bytes, c->labels.size);
	if (c->out->o.labels & PP_LABEL_MODE)
		put_mode(c, stack);
	if (time != PD_NO_TIME)
		put_label(c, "timestamp_ns", NO_STRING, time);
	end_inner(c, PROFILE_SAMPLE);
}

/* One sample after the other, with its time. */
static void put_track(struct encoding *c, const struct pp_track *t)
{
	struct pp_track_reader r = pp_track_read(&c->p->tracks, t);
	struct pp_item item = { 0 };

	while (pp_track_next(&r, &item))
		if (item.kind == PP_ITEM_SAMPLE)
			put_sample(c, item.node, 1, item.weight, item.time);
}

static void put_samples(struct encoding *c)
{
	const struct pp_profile *p = c->p;

	for (uint32_t i = 0; i < p->tree.nr && !(c->out->o.labels & PP_LABEL_TIME); i++)
		if (p->tree.nodes[i].samples)
			put_sample(c, i, p->tree.nodes[i].samples, p->tree.nodes[i].weight,
				   PD_NO_TIME);
	for (size_t i = 0; i < p->tracks.nr && c->out->o.labels & PP_LABEL_TIME; i++)
		put_track(c, &p->tracks.items[i]);
}

/* --- the head --- */

static void put_type(struct encoding *c, unsigned int field, const char *name, const char *unit)
{
	put_inner(c, TYPE_NAME, string_of_text(c, name));
	put_inner(c, TYPE_UNIT, string_of_text(c, unit));
	end_inner(c, field);
}

/* Writes the name of an event as that of columns: readers drop all that have the same one. */
static void name_event(const struct encoding *c, size_t event, const char *suffix, char *text,
		       size_t size)
{
	const char *name = c->out->p->events[event].weigher.name;

	if (c->are_repeated[event])
		snprintf(text, size, "%s_%zu%s", name, event + 1, suffix);
	else
		snprintf(text, size, "%s%s", name, suffix);
}

/* Writes the name of an event's column to `text`. The first clock of the CPU is what others call a
 * CPU profile. */
static const char *name_column(const struct encoding *c, size_t event, char *text, size_t size)
{
	if (event == c->clock && !c->out->p->events[event].weigher.is_off_cpu)
		return "cpu";
	name_event(c, event, c->nr_columns > 1 ? "_event" : "", text, size);
	return text;
}

/* The same for the column of the numbers of samples. */
static const char *name_samples(const struct encoding *c, size_t event, char *text, size_t size)
{
	if (c->nr_columns == 1)
		return "samples";
	name_event(c, event, "_sample", text, size);
	return text;
}

static void put_types(struct encoding *c)
{
	const struct pp_profile *p = c->out->p;
	char text[sizeof(p->events->weigher.name) + 32];

	for (size_t column = 0; column < c->nr_columns; column++) {
		const size_t i = c->order[column].event;

		put_type(c, PROFILE_SAMPLE_TYPE, name_samples(c, i, text, sizeof(text)), "count");
		put_type(c, PROFILE_SAMPLE_TYPE, name_column(c, i, text, sizeof(text)),
			 p->events[i].weigher.is_time ? "nanoseconds" : "count");
	}
}

/* Writes the name of the column that pprof shows first. */
static const char *name_default(const struct encoding *c, char *text, size_t size)
{
	const size_t event = c->out->o.event;

	return c->out->o.measure == PP_BY_PERIOD ? name_column(c, event, text, size) :
						   name_samples(c, event, text, size);
}

/* pprof shows these lines above every report. */
static void put_comments(struct encoding *c)
{
	const struct pp_profile *p = c->out->p;
	const struct pp_counts *counts = &p->counts;
	char text[sizeof(p->events->weigher.name) + 64];

	for (size_t i = 0; i < p->nr_events; i++) {
		const struct pp_weigher *w = &p->events[i].weigher;

		if (!pp_is_column(p, i))
			continue;
		snprintf(text, sizeof(text), "%s: %" PRIu64 " sample%s, %s %" PRIu64, w->name,
			 p->events[i].samples, pp_plural(p->events[i].samples),
			 w->frequency ? "Hz:" : "period:",
			 w->frequency ? w->frequency : w->period);
		pp_proto_number(&c->proto, &c->file, PROFILE_COMMENT, string_of_text(c, text));
	}
	snprintf(text, sizeof(text), "lost: %" PRIu64 ", throttled: %" PRIu64 ", cut stacks: %"
		 PRIu64, pp_lost(c->p), counts->throttled,
		 counts->cut + counts->copies_cut);
	pp_proto_number(&c->proto, &c->file, PROFILE_COMMENT, string_of_text(c, text));
	if (c->out->o.base)
		pp_proto_number(&c->proto, &c->file, PROFILE_COMMENT,
				string_of_text(c, "negative samples: the older recording's"));
}

static void put_head(struct encoding *c)
{
	const struct pp_profile *p = c->out->p;
	/* the same in all profiles of these events, as pprof wants, whichever is the main one */
	const size_t event = c->nr_columns ? c->order->event : c->out->o.event;
	const struct pp_weigher *w = &p->events[event].weigher;
	char text[sizeof(w->name) + 32];
	const char *name = name_column(c, event, text, sizeof(text));

	if (p->counts.first != PD_NO_TIME)
		pp_proto_number(&c->proto, &c->file, PROFILE_DURATION,
				p->counts.last - p->counts.first);
	put_type(c, PROFILE_PERIOD_TYPE, name, w->is_time ? "nanoseconds" : "count");
	pp_proto_number(&c->proto, &c->file, PROFILE_PERIOD, pp_nominal_period(w));
	name = name_default(c, text, sizeof(text));
	pp_proto_number(&c->proto, &c->file, PROFILE_DEFAULT_TYPE, string_of_text(c, name));
	put_comments(c);
}

/* Content of one profile: its samples, and everything that they refer to. */
static void put_parts(struct encoding *c)
{
	const struct pp_profile *p = c->p;

	put_samples(c);
	put_mappings(c);
	for (uint32_t i = 0; i < p->frames.nr; i++)
		if (c->mappings.locations[i])
			put_location(c, i);
	for (size_t i = 0; i < p->nr_functions; i++)
		if (c->functions[i])
			put_function(c, i);
	c->mappings_before += c->mappings.nr;
}

static void encode_parts(struct encoding *c, struct pp_profile *p)
{
	struct pp_memory *m = c->proto.memory;
	int err = pp_mappings_start(&c->mappings, p);

	c->p = p;
	set_task(c, PP_NONE);
	c->functions = pp_memory_zeroed(m, p->nr_functions, sizeof(*c->functions));
	c->columns = pp_memory_zeroed(m, p->nr_events, sizeof(*c->columns));
	if (!c->functions || !c->columns)
		err = -1;
	for (size_t i = 0; !err && i < p->nr_events; i++)
		c->columns[i] = is_base(c) ? find_column(c, i) : c->newer_columns[i];
	if (!err)
		put_parts(c);
	if (err || c->mappings.failed)
		c->proto.failed = -1;
	pp_mappings_end(&c->mappings);
	pp_memory_free(m, c->functions, p->nr_functions, sizeof(*c->functions));
	pp_memory_free(m, c->columns, p->nr_events, sizeof(*c->columns));
}

static void encode_profile(struct encoding *c)
{
	string_of_text(c, "");
	put_types(c);
	encode_parts(c, c->out->p);
	if (c->out->o.base)
		encode_parts(c, c->out->o.base);
	put_head(c);
	for (uint32_t i = 0; i < c->strings.nr; i++)
		pp_proto_string(&c->proto, &c->file, PROFILE_STRING,
				pp_strings_at(&c->strings, i));
}

int pp_write_pprof(struct pp_out *out)
{
	struct pp_memory *m = &out->p->memory;
	struct encoding c = { .out = out, .p = out->p, .proto.memory = m, .mappings.memory = m };

	if (make_columns(&c))
		c.proto.failed = -1;
	else
		encode_profile(&c);
	put_fields(&c);
	pp_memory_free(m, c.order, out->p->nr_events, sizeof(*c.order));
	pp_memory_free(m, c.newer_columns, out->p->nr_events, sizeof(*c.newer_columns));
	pp_memory_free(m, c.are_repeated, out->p->nr_events, sizeof(*c.are_repeated));
	pp_proto_free(&c.proto, &c.file);
	pp_proto_free(&c.proto, &c.inner);
	pp_proto_free(&c.proto, &c.packed);
	pp_proto_free(&c.proto, &c.line);
	pp_proto_free(&c.proto, &c.labels);
	pp_strings_free(&c.strings, m);
	return c.proto.failed;
}
