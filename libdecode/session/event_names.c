/* event_names.c - names of events: those in the file, and those that attributes imply. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "layout/event_name.h"
#include "session/session.h"

#define ATTR_HARDWARE 0
#define ATTR_TRACEPOINT 2
#define ATTR_HW_CACHE 3

#define TRACEPOINT_TEXT 128

void pd_session_compare_name(const struct pd_session *s, const struct pd_attr *a,
			     struct pd_bytes name, const struct pd_error *where)
{
	struct pd_error e = *where;

	if (a->name_from != PD_NAME_FROM_FILE || !s->report ||
	    (strlen(a->name) == name.size && memcmp(a->name, name.data, name.size) == 0))
		return;
	e.code = PD_E_MISMATCH;
	e.severity = PD_NOTE;	/* nothing tells which is right */
	e.field = "name";
	e.text = "EVENT_UPDATE and EVENT_DESC name an event differently";
	s->report(s->report_ctx, &e);
}

static void format_tracepoint(const struct pd_tp_event *tp, char text[TRACEPOINT_TEXT])
{
	snprintf(text, TRACEPOINT_TEXT, "%s:%s", tp->system, tp->name);
}

/* Makes the name that perf would show; the names of PMUs and tracepoints come from the file. */
static struct pd_bytes make_implied_name(const struct pd_session *s, const struct pd_attr *a,
					 const struct pd_tp_event *tp,
					 char buf[PD_IMPLIED_NAME_MAX])
{
	const bool typed = a->type == ATTR_HARDWARE || a->type == ATTR_HW_CACHE;
	struct pd_event_name_in in = {
		.type = (uint32_t)a->type, .bp_type = (uint32_t)a->bp_type, .config = a->config,
		.config1 = a->bp_addr ? a->bp_addr : a->config1,
		.config2 = a->bp_len ? a->bp_len : a->config2,
		.flags = a->flags, .precise_ip = a->precise_ip,
		.pmu = pd_map_find(&s->pmus, typed ? a->config >> 32 : a->type),
	};
	char tracepoint[TRACEPOINT_TEXT];
	size_t n;

	if (tp) {
		format_tracepoint(tp, tracepoint);
		in.tracepoint = tracepoint;
	}
	n = pd_event_name(&in, buf, PD_IMPLIED_NAME_MAX);
	return (struct pd_bytes){ (const uint8_t *)buf,
				  n < PD_IMPLIED_NAME_MAX ? n : PD_IMPLIED_NAME_MAX - 1 };
}

static const struct pd_tp_event *find_format(const struct pd_session *s, const struct pd_attr *a)
{
	return a->type == ATTR_TRACEPOINT ? pd_tracepoints_find(s->tracepoints, a->config) : NULL;
}

bool pd_session_is_tracepoint(const struct pd_session *s, uint64_t type, uint64_t config,
			      struct pd_bytes name)
{
	const struct pd_tp_event *tp =
		type == ATTR_TRACEPOINT ? pd_tracepoints_find(s->tracepoints, config) : NULL;
	char implied[TRACEPOINT_TEXT];

	if (!tp)
		return false;
	format_tracepoint(tp, implied);
	return name.size == strlen(implied) && memcmp(name.data, implied, name.size) == 0;
}

void pd_session_name_event(struct pd_session *s, struct pd_attr *a)
{
	char name[PD_IMPLIED_NAME_MAX];

	if (a->named_at == s->updates)
		return;
	a->named_at = s->updates;
	if (a->type == ATTR_TRACEPOINT)
		a->tracepoint = find_format(s, a);
	if (a->name_from == PD_NAME_IMPLIED)
		pd_session_rename(s, a, make_implied_name(s, a, a->tracepoint, name),
				  PD_NAME_IMPLIED);
}

struct pd_bytes pd_session_event_name(const struct pd_session *s, const struct pd_attr *a,
				      char buf[PD_IMPLIED_NAME_MAX])
{
	if (a->name_from == PD_NAME_FROM_FILE)
		return (struct pd_bytes){ (const uint8_t *)a->name, strlen(a->name) };
	return make_implied_name(s, a, find_format(s, a), buf);
}

void pd_session_name_events(struct pd_session *s)
{
	for (size_t i = 0; i < s->nr_attrs; i++)
		pd_session_name_event(s, s->attrs[i]);
}

/* Returns whether one byte of the name is another one than implied. Except for tracepoints, whose
 * names the kernel gives, its case may differ, and modifiers are written in more ways than one. */
static bool has_wrong_byte(const struct pd_attr *a, struct pd_bytes implied)
{
	size_t wrong = 0, at = 0;

	if (strlen(a->name) != implied.size)
		return false;
	for (size_t i = 0; i < implied.size; i++)
		if (implied.data[i] != (uint8_t)a->name[i]) {
			at = i;
			wrong++;
		}
	if (wrong != 1 || a->type == ATTR_TRACEPOINT)
		return wrong == 1;
	return tolower(implied.data[at]) != tolower((uint8_t)a->name[at]) &&
	       !memchr(implied.data, ':', at);
}

void pd_session_correct_names(struct pd_session *s)
{
	for (size_t i = s->first_attr; i < s->nr_attrs; i++) {
		struct pd_attr *a = s->attrs[i];
		char name[PD_IMPLIED_NAME_MAX];
		struct pd_bytes implied;

		if (a->name_from != PD_NAME_FROM_FILE)
			continue;
		implied = make_implied_name(s, a, find_format(s, a), name);
		if (!has_wrong_byte(a, implied))
			continue;
		pd_session_rename(s, a, implied, PD_NAME_FROM_FILE);
		if (s->report)
			s->report(s->report_ctx, &(struct pd_error){
				.code = PD_E_MISMATCH, .severity = PD_NOTE,
				.record = "EVENT_DESC", .field = "name",
				.text = "one byte is not that of the attribute's name, which is "
					"used" });
	}
}
