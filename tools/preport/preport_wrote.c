/* preport_wrote.c - the lines after a file was written: what is in it, and what opens it. */
#include "preport/preport_wrote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_TEXT = 32, OTHERS_TEXT = 160 };

/* Writes a number with a comma between each three digits. Returns `text`. */
static const char *format_number(uint64_t n, char text[NUMBER_TEXT])
{
	char digits[NUMBER_TEXT];
	const int size = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	int to = 0;

	for (int i = 0; i < size; i++) {
		if (i && (size - i) % 3 == 0)
			text[to++] = ',';
		text[to++] = digits[i];
	}
	text[to] = '\0';
	return text;
}

static const char *format_size(uint64_t bytes, char text[NUMBER_TEXT])
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double size = (double)bytes;
	size_t unit = 0;

	for (; size >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		size /= 1000;
	snprintf(text, NUMBER_TEXT, unit && size < 9.95 ? "%.1f %s" : "%.0f %s", size,
		 units[unit]);
	return text;
}

/* Writes a path as a word of a command: a shell takes neither an option nor a character of its own
 * from it. */
static const char *quote(const char *path, char *text, size_t size)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./-+=:,@%";
	const char *here = *path == '-' ? "./" : "";
	size_t to = 0;

	if (!path[strspn(path, plain)]) {
		snprintf(text, size, "%s%s", here, path);
		return text;
	}
	to = (size_t)snprintf(text, size, "'%s", here);
	for (; *path && to + 6 < size; path++)
		to += (size_t)snprintf(text + to, size - to, *path == '\'' ? "'\\''" : "%c",
				       *path);
	snprintf(text + to, size - to, "'");
	return text;
}

void wrote_warn_large(const struct cli_tool *tool, const char *input, const struct format *format,
		      const struct pp_profile *profile)
{
	struct pp_counts counts = { .size = sizeof(counts) };
	char most[NUMBER_TEXT], have[NUMBER_TEXT];

	pp_count(profile, &counts);
	if (format->most && counts.unpacked > format->most)
		cli_error(tool, "%s: %s opens at most %s, and this is %s of JSON: choose with "
			  "--time or --tid, or --thin=N", input, format->site,
			  format_size(format->most, most), format_size(counts.unpacked, have));
}

void wrote_warn_doubts(const struct cli_tool *tool, const char *input, struct pp_profile *profile,
		       enum pp_measure measure)
{
	const size_t shown = pp_main_event(profile);
	char doubt[1024];

	if (pp_doubt_stacks(profile, shown, doubt, sizeof(doubt)))
		cli_error(tool, "%s: %s", input, doubt);
	if (pp_doubt_names(profile, shown, doubt, sizeof(doubt)))
		cli_error(tool, "%s: %s", input, doubt);
	if (measure == PP_BY_PERIOD &&
	    pp_doubt_weight(profile, shown, doubt, sizeof(doubt)))
		cli_error(tool, "%s: %s", input, doubt);
}

void wrote_warn_event(const struct cli_tool *tool, const char *base_input,
		      const struct pp_profile *base, const struct pp_profile *profile)
{
	const size_t shown = pp_main_event(profile);
	struct pp_event e, older;

	if (pp_event_at(profile, shown, &e) &&
	    pp_event_at(base, pp_compared_event(base, profile, shown), &older) &&
	    strcmp(e.name, older.name) != 0)
		cli_error(tool, "%s: no samples of %s, so those of %s are compared with them",
			  base_input, e.name, older.name);
}

/* Appends the names of the events but one, as far as there is room. */
static void list_others(const struct pp_profile *profile, size_t shown, char text[OTHERS_TEXT])
{
	struct pp_event e;
	size_t used = 0;

	for (size_t i = 0; pp_event_at(profile, i, &e); i++) {
		const char *comma = used ? ", " : "";

		if (i == shown || !e.samples)
			continue;
		if (used + strlen(comma) + strlen(e.name) + sizeof(", ...") > OTHERS_TEXT) {
			snprintf(text + used, OTHERS_TEXT - used, "%s...", comma);
			return;
		}
		used += (size_t)snprintf(text + used, OTHERS_TEXT - used, "%s%s", comma, e.name);
	}
}

void wrote_name_others(const struct cli_tool *tool, const char *input, const struct choices *c,
		       const struct pp_profile *profile)
{
	const size_t shown = pp_main_event(profile);
	const bool is_told = c->format->format == PP_TOP || c->format->format == PP_TREE;
	char others[OTHERS_TEXT] = "";
	struct pp_event e;

	if (is_told || !choices_show_one_event(c) || choices_state(c) != PP_ON_CPU ||
	    !pp_event_at(profile, shown, &e))
		return;
	list_others(profile, shown, others);
	if (*others)
		cli_error(tool, "%s: samples of %s; -e has those of %s", input, e.name, others);
}

static uint64_t count_written(const struct choices *c, const struct pp_profile *profile)
{
	struct pp_counts counts = { .size = sizeof(counts) };
	struct pp_event e;

	if (choices_show_one_event(c) &&
	    pp_event_at(profile, pp_main_event(profile), &e))
		return e.samples - e.idle_samples;
	pp_count(profile, &counts);
	return counts.samples;
}

void wrote_report(const struct cli_tool *tool, uint64_t size, const struct choices *c,
		  const struct pp_profile *profile)
{
	const struct format *format = c->format;
	const char *path = c->s->output;
	struct pp_counts counts = { .size = sizeof(counts) };
	char bytes[NUMBER_TEXT], frames[NUMBER_TEXT], samples[NUMBER_TEXT], lost[NUMBER_TEXT];
	char word[4096];

	pp_count(profile, &counts);
	cli_error(tool, "wrote %s (%s, %s%s%s samples; %s lost)", path, format_size(size, bytes),
		  counts.frames ? format_number(counts.frames, frames) : "",
		  counts.frames ? " frames, " : "",
		  format_number(count_written(c, profile), samples),
		  format_number(counts.lost, lost));
	if (format->site)
		cli_error(tool, "to open it: %s", format->site);
	else if (format->viewer)
		cli_error(tool, "to open it: %s %s", format->viewer,
			  quote(path, word, sizeof(word)));
}
