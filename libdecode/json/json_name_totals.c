/* json_name_totals.c - how many frames of samples have a name: see json_name_totals.h. */
#include "json/json_name_totals.h"

#include <string.h>

#include "pd/history.h"

void pd_json_name_totals_why(struct pd_json_name_totals *t, unsigned int why, uint64_t frames)
{
	if (why < PD_JSON_WHYS)
		t->by_why[why] += frames;
}

static void count_end(struct pd_json_name_totals *t, const char *end, uint64_t samples)
{
	size_t i = 0;

	while (i < t->nr_ends && strcmp(t->ends[i].end, end) != 0)
		i++;
	if (i == PD_JSON_ENDS)
		return;
	if (i == t->nr_ends)
		t->ends[t->nr_ends++] = (struct pd_end_count){ end, 0 };
	t->ends[i].samples += samples;
}

void pd_json_name_totals_end(struct pd_json_name_totals *t, const char *end)
{
	count_end(t, end, 1);
}

void pd_json_name_totals_add(struct pd_json_name_totals *t, struct pd_json_name_totals *from)
{
	for (size_t i = 0; i < PD_JSON_WHYS; i++)
		t->by_why[i] += from->by_why[i];
	for (size_t i = 0; i < from->nr_ends; i++)
		count_end(t, from->ends[i].end, from->ends[i].samples);
	*from = (struct pd_json_name_totals){ .nr_ends = 0 };
}

void pd_image_frames_add(struct pd_image_frames *to, const struct pd_image_frames *from)
{
	to->samples += from->samples;
	to->frames += from->frames;
	to->named += from->named;
	if (to->why < from->why)
		to->why = from->why;
}

static void write_count(struct pd_jsonw *w, const char *word, uint64_t n)
{
	pd_jsonw_comma(w);
	pd_jsonw_string(w, word);
	pd_jsonw_char(w, ':');
	pd_jsonw_unsigned(w, n);
}

static void write_reasons(struct pd_jsonw *w, const struct pd_json_name_totals *t)
{
	PD_JSONW_KEY(w, "why");
	pd_jsonw_char(w, '{');
	for (unsigned int i = PD_WHY_FOUND + 1; i < PD_JSON_WHYS; i++)
		if (t->by_why[i])
			write_count(w, pd_why_name(i), t->by_why[i]);
	pd_jsonw_char(w, '}');
}

/* Writes them by name: the order in which they were found depends on the threads. */
static void write_ends(struct pd_jsonw *w, const struct pd_json_name_totals *t)
{
	const char *last = "";

	PD_JSONW_KEY(w, "stack_ends");
	pd_jsonw_char(w, '{');
	for (size_t n = 0; n < t->nr_ends; n++) {
		const struct pd_end_count *next = NULL;

		for (size_t i = 0; i < t->nr_ends; i++)
			if (strcmp(t->ends[i].end, last) > 0 &&
			    (!next || strcmp(t->ends[i].end, next->end) < 0))
				next = &t->ends[i];
		if (!next)
			break;
		last = next->end;
		write_count(w, next->end, next->samples);
	}
	pd_jsonw_char(w, '}');
}

void pd_json_name_totals_write(struct pd_jsonw *w, const struct pd_json_name_totals *t)
{
	uint64_t all = 0;

	for (size_t i = 0; i < PD_JSON_WHYS; i++)
		all += t->by_why[i];
	pd_jsonw_char(w, '{');
	PD_JSONW_KEY(w, "total");
	pd_jsonw_unsigned(w, all);
	PD_JSONW_KEY(w, "named");
	pd_jsonw_unsigned(w, t->by_why[PD_WHY_FOUND]);
	if (all != t->by_why[PD_WHY_FOUND])
		write_reasons(w, t);
	if (t->nr_ends)
		write_ends(w, t);
	pd_jsonw_char(w, '}');
}
