/* placeholder_formats.c - make formats for tracepoints whose own are lost. */
#include "output/placeholder_formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "output/compose.h"

#define ATTR_TRACEPOINT 2
#define FORMAT_MAX 512

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n";
static const char format[] =
	"name: lost_%" PRIu64 "\n"
	"ID: %" PRIu64 "\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char lost[0];\toffset:8;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

struct event_format {
	struct pd_bytes system, text;
	struct event_format *same;		/* next event of the same tracepoint */
};

/* The events' formats, in the order of the events, and the state of a walk through a section. */
struct formats {
	struct pd_session *session;
	struct event_format *of;
	struct pd_map by_id;		/* tracepoint -> format of its first event */
	struct pd_arena arena;		/* for formats that are parsed only as a check */
	struct pd_bytes system;
	unsigned int long_size;
	enum pd_swap swap;
	bool in_formats, damaged;
};

static bool is_tracepoint(const struct pd_attr *a)
{
	return a->type == ATTR_TRACEPOINT;
}

static void store_format(struct formats *f, struct pd_bytes text)
{
	const struct pd_tp_source in = { f->system, text, f->long_size, f->swap };
	struct pd_tp_damage damage = { 0, 0 };
	struct pd_tp_event event;
	struct event_format *of;

	if (pd_tp_parse(&f->arena, &in, &event, &damage) != PD_OK || damage.lines) {
		f->damaged = true;
		return;
	}
	of = pd_map_find(&f->by_id, event.id);
	if (of && of->text.size)
		return;
	for (; of; of = of->same) {
		of->system = f->system;
		of->text = text;
	}
}

/* Maps tracepoints to their events. */
static int index_events(struct formats *f)
{
	for (size_t i = 0; i < f->session->nr_attrs; i++) {
		const struct pd_attr *a = f->session->attrs[i];
		struct event_format *first = is_tracepoint(a) ? pd_map_find(&f->by_id, a->config) :
			NULL;

		if (first) {
			f->of[i].same = first->same;
			first->same = &f->of[i];
		} else if (is_tracepoint(a) && pd_map_add(&f->by_id, a->config, &f->of[i])) {
			return -1;
		}
	}
	return 0;
}

static void on_number(void *ctx, const struct pd_field *field, uint64_t value)
{
	struct formats *f = ctx;

	if (strcmp(field->name, "byte_order") == 0)
		f->swap = (value != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
			PD_SWAP_YES : PD_SWAP_NO;
	else if (strcmp(field->name, "long_size") == 0)
		f->long_size = (unsigned int)value;
}

static void on_text(void *ctx, const struct pd_field *field, struct pd_bytes text)
{
	struct formats *f = ctx;

	if (strcmp(field->name, "name") == 0)
		f->system = text;
	else if (f->in_formats)
		store_format(f, text);
}

static void on_enter_array(void *ctx, const struct pd_field *field, size_t n)
{
	(void)n;
	((struct formats *)ctx)->in_formats = strcmp(field->name, "formats") == 0;
}

static void on_leave_array(void *ctx, const struct pd_field *field)
{
	(void)field;
	((struct formats *)ctx)->in_formats = false;
}

/* Looks up every format of the section. */
static void find_formats(struct formats *f, struct pd_bytes section)
{
	static const struct pd_visitor v = {
		.size = sizeof(v), .number = on_number, .text = on_text,
		.enter_array = on_enter_array, .leave_array = on_leave_array,
	};
	const struct pd_plan *plan =
		pd_session_feature_plan(f->session, pd_feature_desc(PD_FEATURE_TRACING_DATA));
	struct pd_extent_of extent;

	f->damaged = !plan || !section.size;
	if (f->damaged)
		return;
	pd_measure(plan, section, 0, f->session->swap, PD_TEXT_TO_END, &extent);
	f->damaged = extent.code != PD_OK;
	pd_visit(plan, section, 0, f->session->swap, &extent, &v, f);
	for (size_t i = 0; i < f->session->nr_attrs; i++)
		f->damaged |= is_tracepoint(f->session->attrs[i]) && !f->of[i].text.size;
}

static struct pd_value text_value(const char *name, const char *text, size_t size)
{
	return (struct pd_value){ .name = name, .kind = PD_VALUE_TEXT,
		.bytes = { (const uint8_t *)text, size } };
}

static int compose_section(struct pd_session *s, const struct pd_value *systems, size_t n,
			   struct pd_buf *out)
{
	const struct pd_value members[] = {
		PD_TEXT("version", "0.5"), PD_NUMBER("byte_order",
						     pd_is_big(s->swap)), PD_NUMBER("long_size", 8),
		PD_NUMBER("page_size", 4096), PD_TEXT("header_page",
						      header_page),
						      PD_TEXT("header_event", header_event),
		PD_ARRAY("ftrace_formats", NULL, 0), PD_ARRAY("systems", systems,
							      n), PD_TEXT("kallsyms", ""),
		PD_TEXT("printk_formats", ""),
	};
	const struct pd_value section[] = { PD_OBJECT("TRACING_DATA", members,
						      sizeof(members) / sizeof(*members)) };
	const struct pd_value features = PD_OBJECT(NULL, section, 1);
	struct pd_pack_error e;

	return pd_compose_feature(s, &pd_value_values, "TRACING_DATA", &features, PD_PREFER_DECODED,
				  out, &e) ? -1 : 0;
}

/* The values of a system with one format. */
struct composed_system {
	struct pd_value system[2], format;
	char text[FORMAT_MAX];
};

static struct pd_value make_system(const struct formats *f, size_t i, struct composed_system *m)
{
	const uint64_t id = f->session->attrs[i]->config;

	if (f->of[i].text.size) {
		m->format = text_value(NULL, (const char *)f->of[i].text.data, f->of[i].text.size);
		m->system[0] = text_value("name", (const char *)f->of[i].system.data,
					  f->of[i].system.size);
	} else {
		snprintf(m->text, sizeof(m->text), format, id, id);
		m->format = text_value(NULL, m->text, strlen(m->text));
		m->system[0] = text_value("name", "lost", 4);
	}
	m->system[1] = (struct pd_value)PD_ARRAY("formats", &m->format, 1);
	return (struct pd_value)PD_OBJECT(NULL, m->system, 2);
}

static int make_section(const struct formats *f, struct pd_buf *out)
{
	struct pd_session *s = f->session;
	const size_t values_size = s->nr_attrs * sizeof(struct pd_value), made_size =
		s->nr_attrs * sizeof(struct composed_system);
	struct pd_value *systems = pd_budget_alloc(s->budget, values_size);
	struct composed_system *composed = pd_budget_alloc(s->budget, made_size);
	size_t n = 0;
	int err = -1;

	for (size_t i = 0; systems && composed && i < s->nr_attrs; i++)
		if (is_tracepoint(s->attrs[i])) {
			systems[n] = make_system(f, i, &composed[n]);
			n++;
		}
	if (systems && composed)
		err = compose_section(s, systems, n, out);
	pd_budget_free(s->budget, systems, values_size);
	pd_budget_free(s->budget, composed, made_size);
	return err;
}

enum pd_placeholder_formats pd_placeholder_tracing_data(struct pd_session *s,
							struct pd_bytes tracing, struct pd_buf *out)
{
	struct formats f = { .session = s, .arena.budget = s->budget, .by_id.budget = s->budget,
		.long_size = 8, .swap = s->swap };
	enum pd_placeholder_formats result = PD_PLACEHOLDERS_NOT_NEEDED;
	bool any = false;

	for (size_t i = 0; i < s->nr_attrs; i++)
		any |= is_tracepoint(s->attrs[i]);
	if (!any)
		return result;
	f.of = pd_budget_alloc(s->budget, s->nr_attrs * sizeof(*f.of));
	if (!f.of)
		return PD_PLACEHOLDERS_FAILED;
	if (index_events(&f) == 0) {
		find_formats(&f, tracing);
		if (f.damaged)
			result = make_section(&f, out) ? PD_PLACEHOLDERS_FAILED :
				PD_PLACEHOLDERS_MADE;
	} else {
		result = PD_PLACEHOLDERS_FAILED;
	}
	pd_map_free(&f.by_id);
	pd_budget_free(s->budget, f.of, s->nr_attrs * sizeof(*f.of));
	pd_arena_free(&f.arena);
	return result;
}
