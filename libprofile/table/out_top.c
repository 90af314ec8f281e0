/* out_top.c - a summary, a table of functions, and the hottest path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/function_name.h"
#include "table/graphs.h"
#include "table/hottest.h"
#include "table/rows.h"

enum {
	SHARES_COLUMNS = 20, NAME_COLUMNS = 40, EVENT_COLUMNS = 24,
	NAME_LEAST = 25,	/* on a terminal: other columns are left out before names are */
	EIGHTHS = 8,		/* of a character of a bar */
};

/* How wide the columns are; 0: not there. */
struct layout {
	size_t samples, bar, name, image, thread, event;
	uint64_t most;		/* value of the longest bar */
};

/* Blanks between columns, before each but the first. */
static const char gap[] = "  ";

static void fill(struct pp_out *out, size_t used, size_t columns)
{
	for (; used < columns; used++)
		pp_put_text(out, " ");
}

typedef size_t put_text(struct pp_out *out, struct pd_bytes text, size_t columns);

static void put_column(struct pp_out *out, put_text *put, struct pd_bytes text, size_t columns)
{
	fill(out, put(out, text, out->o.columns ? columns : 0), columns);
}

/* perf's thresholds. */
static const char *color_of(const struct pp_out *out, double share)
{
	if (out->o.colors == PP_PLAIN)
		return "";
	return share >= 5 ? "\033[31m" : share >= 0.5 ? "\033[32m" : "";
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Returns the columns of the longest name of an event, as far as there is room for it. */
static size_t columns_of_events(const struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	const size_t two_fifths = out->o.columns * 2 / 5;
	const size_t room = out->o.columns && two_fifths < NAME_COLUMNS ? two_fifths : NAME_COLUMNS;
	size_t longest = 0;

	for (size_t i = 0; i < p->nr_events; i++) {
		const size_t size = p->events[i].samples ? strlen(p->events[i].weigher.name) : 0;

		longest = size > longest ? size : longest;
	}
	longest = longest < room ? longest : room;
	return longest > EVENT_COLUMNS ? longest : EVENT_COLUMNS;
}

/* Columns for a key; 0: as many as are left. */
static size_t columns_of(const struct layout *l, enum pp_key key)
{
	static const size_t columns[] = { 0, 0, 22, 15, 10, 10, 8, 24, 28 };

	if (key == PP_KEY_EVENT)
		return l->event;
	return (size_t)key < sizeof(columns) / sizeof(*columns) ? columns[key] : 0;
}

/* Returns the columns of the keys but for the name, and of the gaps. */
static size_t columns_of_keys(const struct pp_out *out, const struct layout *l)
{
	size_t columns = 0;

	for (size_t i = 0; i < PP_NR_KEYS && out->o.keys[i]; i++)
		columns += columns_of(l, out->o.keys[i]) + (i ? sizeof(gap) - 1 : 0);
	return columns;
}

static bool has_name(const struct pp_out *out)
{
	bool has = !out->o.keys[0];

	for (size_t i = 0; i < PP_NR_KEYS && out->o.keys[i]; i++)
		has |= out->o.keys[i] == PP_KEY_SYMBOL;
	return has;
}

static size_t add_gap(size_t columns)
{
	return columns ? columns + sizeof(gap) - 1 : 0;
}

/* Returns the columns of the longest name and sets l->most. */
static size_t measure_rows(const struct pp_out *out, const struct pp_rows *rows, size_t shown,
			   struct layout *l)
{
	size_t longest = NAME_LEAST;

	for (size_t i = 0; i < shown; i++) {
		const struct pp_row *r = &rows->items[i];
		const size_t size = pp_strings_at(&out->p->strings, r->function->name).size;

		longest = size > longest ? size : longest;
		l->most = r->value > l->most ? r->value : l->most;
	}
	return longest;
}

/* On a terminal a line fits into its width: what matters least is left out first. */
static struct layout lay_out(const struct pp_out *out, const struct pp_rows *rows, size_t shown)
{
	const bool has_keys = out->o.keys[0];
	struct layout l = { .samples = 9, .bar = 8, .name = NAME_COLUMNS,
			    .event = columns_of_events(out) };
	size_t *const steps[] = { &l.bar, &l.thread, &l.samples, &l.image };
	const size_t least = has_name(out) ? NAME_LEAST : 0;
	size_t others, longest;

	if (!has_keys) {
		l.image = 22;
		l.thread = out->p->options.groups ? 18 : 0;
	}
	if (!out->o.columns) {
		l.bar = 0;
		return l;
	}
	longest = measure_rows(out, rows, shown, &l);
	for (size_t i = 0;; *steps[i++] = 0) {
		others = SHARES_COLUMNS + add_gap(l.samples) + add_gap(l.bar) + add_gap(l.image) +
			 add_gap(l.thread) + columns_of_keys(out, &l);
		if (others + least <= out->o.columns || i == sizeof(steps) / sizeof(*steps))
			break;
	}
	l.name = others + NAME_LEAST / 2 < out->o.columns ? out->o.columns - others :
							     NAME_LEAST / 2;
	l.name = l.name < longest || has_keys ? l.name : longest;
	return l;
}

/* The last column is not filled up. */
static void put_keys(struct pp_out *out, const struct layout *l, const struct pp_rows *rows,
		     const struct pp_row *r)
{
	for (size_t i = 0; i < PP_NR_KEYS && out->o.keys[i]; i++) {
		const enum pp_key key = out->o.keys[i];
		const size_t columns = columns_of(l, key) ? columns_of(l, key) : l->name;
		put_text *put = key == PP_KEY_SYMBOL ? pp_put_function_name : pp_put_name;
		const struct pd_bytes text = r ? pp_row_text(rows, r, key) :
						 pp_bytes(pp_key_word(key));

		if (i)
			pp_put_text(out, gap);
		if (i + 1 < PP_NR_KEYS && out->o.keys[i + 1])
			put_column(out, put, text, columns);
		else
			put(out, text, out->o.columns ? columns : 0);
	}
}

/* Writes names that differ in their digits as one, "worker-* (3)", and of others the first. */
static void put_threads(struct pp_out *out, const struct layout *l, const struct pp_line *line)
{
	const size_t columns = out->o.columns ? l->thread - 5 : 0;
	const bool is_one = line->nr_threads > 1 && !line->is_of_others;
	struct pd_bytes name = { 0 };
	char text[256];

	if (line->thread != PP_NONE)
		name = pp_strings_at(&out->p->strings, line->thread);
	if (is_one)
		name = (struct pd_bytes){ (const uint8_t *)text,
					  pp_copy_without_digits(text, sizeof(text), name) };
	pp_put_name(out, name, columns);
	if (is_one)
		pp_printf(out, " (%" PRIu32 ")", line->nr_threads);
	else if (line->nr_threads > 1)
		pp_printf(out, " +%" PRIu32, line->nr_threads - 1);
}

/* The heading of what is outermost of the groups. */
static const char *heading_of(uint32_t groups)
{
	return groups & PP_GROUP_CGROUP ? "cgroup" : groups & PP_GROUP_COMM ? "thread" :
	       groups & PP_GROUP_PID ? "process" : groups & PP_GROUP_TID ? "thread" : "CPU";
}

static void put_function(struct pp_out *out, const struct layout *l, const struct pp_row *r)
{
	const struct pp_profile *p = out->p;
	const struct pd_bytes image = r ? pp_image_text(p, r->function) : pp_bytes("image");
	const struct pd_bytes name = r ? pp_strings_at(&p->strings, r->function->name) :
					 pp_bytes("function");

	put_column(out, pp_put_function_name, name, l->name);
	if (l->image) {
		pp_put_text(out, gap);
		fill(out, pp_put_name(out, image, out->o.columns ? l->image : 0),
		     l->thread ? l->image : 0);
	}
	if (!l->thread)
		return;
	pp_put_text(out, gap);
	if (r)
		put_threads(out, l, r->line);
	else
		pp_put_text(out, heading_of(p->options.groups));
}

/* A bar is of the row's share of the largest value, so that rows compare at a glance. */
static void put_bar(struct pp_out *out, const struct layout *l, uint64_t value)
{
	static const char *const parts[EIGHTHS] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	const size_t n = l->most ? (size_t)((double)value / (double)l->most *
					    (double)(l->bar * EIGHTHS) + 0.5) : 0;
	size_t used = n / EIGHTHS;

	for (size_t i = 0; i < used; i++)
		pp_put_text(out, "█");
	pp_put_text(out, parts[n % EIGHTHS]);
	fill(out, used + (n % EIGHTHS > 0), l->bar);
}

static void put_row(struct pp_out *out, const struct layout *l, const struct pp_rows *rows,
		    const struct pp_row *r)
{
	const double self = share_of(r->self, r->all), total = share_of(r->total, r->all);
	const char *color = color_of(out, out->o.sort == PP_SORT_SELF ? self : total);
	const char *end = *color ? "\033[0m" : "";

	pp_printf(out, "%s%6.1f %%  %6.1f %%%s  ", color, self, total, end);
	if (l->samples)
		pp_printf(out, "%9" PRIu64 "  ", r->line->self_samples);
	if (l->bar) {
		pp_put_text(out, color);
		put_bar(out, l, r->value);
		pp_printf(out, "%s  ", end);
	}
	if (out->o.keys[0])
		put_keys(out, l, rows, r);
	else
		put_function(out, l, r);
	pp_put_text(out, "\n");
}

static void put_head(struct pp_out *out, const struct layout *l, const struct pp_rows *rows)
{
	pp_put_text(out, "\n  self     total    ");
	if (l->samples)
		pp_put_text(out, "  samples  ");
	fill(out, 0, add_gap(l->bar));
	if (out->o.keys[0])
		put_keys(out, l, rows, NULL);
	else
		put_function(out, l, NULL);
	pp_put_text(out, "\n");
}

static int put_table(struct pp_out *out, const struct pp_rows *rows)
{
	const size_t n = rows->lines.nr;
	const size_t most = out->o.rows && out->o.rows < n ? out->o.rows : n;
	const struct layout l = lay_out(out, rows, most);
	struct pp_graphs graphs = { 0 };
	int ret = out->o.graph ? pp_graphs_make(&graphs, out, &rows->lines) : 0;
	size_t shown = 0;

	put_head(out, &l, rows);
	for (size_t i = 0; i < n && shown < most && !ret; i++) {
		const struct pp_row *r = &rows->items[i];

		if (share_of(r->value, r->all) * 100 < out->o.min_permyriad)
			continue;
		put_row(out, &l, rows, r);
		shown++;
		if (out->o.graph)
			ret = pp_graphs_put(&graphs, out, r->line);
	}
	if (shown < n)
		pp_printf(out, "%zu more %s%s\n", n - shown,
			  out->o.keys[0] ? "line" : "function", pp_plural(n - shown));
	pp_graphs_free(&graphs, out);
	return ret;
}

int pp_write_top(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	const struct pp_merged *root = &p->merged[p->events[out->o.event].merged];
	const uint64_t all = pp_total(root, out->o.measure);
	struct pp_rows rows = { 0 };
	int ret = pp_rows_make(&rows, out);

	if (!ret) {
		pp_put_summary(out);
		ret = put_table(out, &rows);
		if (!pp_keys_have_event(out->o.keys))
			pp_put_hottest_path(out, all);
	}
	pp_rows_free(&rows);
	return ret;
}
