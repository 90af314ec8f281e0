/* evlist.c - print a line for each event or group. */
#include "event/evlist.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char text[4096];
	size_t used;
};

/* Truncates the line where it is full. */
__attribute__((format(printf, 2, 3)))
static void append_text(struct line *line, const char *format, ...)
{
	const size_t room = sizeof(line->text) - line->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line->text + line->used, room, format, args);
	va_end(args);
	line->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void append_details(struct line *line, const struct event *e, char letter)
{
	const char *kind = e->attr.flags & ATTR_FREQ ? "sample_freq" : "sample_period";

	if (letter)
		append_text(line, ": %s=%llu", kind, (unsigned long long)e->attr.sample_period);
	if (letter == 'v')
		append_text(line, ", type=%u, size=%u, config=%#llx, sample_type=%#llx, "
			    "read_format=%#llx, flags=%#llx",
			    e->attr.type, e->attr.size, (unsigned long long)e->attr.config,
			    (unsigned long long)e->attr.sample_type,
			    (unsigned long long)e->attr.read_format,
			    (unsigned long long)e->attr.flags);
}

static void append_group(struct line *line, const struct event_list *l, size_t leader)
{
	const bool braces = events_of_leader(l, leader) > 1;
	const char *before = braces ? "{" : "";

	for (size_t i = leader; i < l->n; i++) {
		if (l->items[i].leader != leader)
			continue;
		append_text(line, "%s%s", before, l->items[i].name);
		before = ",";
	}
	append_text(line, "%s", braces ? "}" : "");
}

bool evlist_print(const struct event_list *l, const char *flag)
{
	const char letter = flag[0] == '-' && flag[1] && !flag[2] ? flag[1] : '\0';

	if (*flag && (!letter || !strchr("Fgv", letter)))
		return false;
	for (size_t i = 0; i < l->n; i++) {
		const struct event *e = &l->items[i];
		struct line line = { .used = 0 };

		if (e->helper || (letter == 'g' && e->leader != i))
			continue;
		if (letter == 'g') {
			append_group(&line, l, i);
		} else {
			append_text(&line, "%s", e->name);
			append_details(&line, e, letter);
		}
		log_at(l->log, LOG_ERROR, "%s", line.text);
	}
	return true;
}
