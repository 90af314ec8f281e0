/* out_top.c - a summary, a table of functions, and the hottest path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/graphs.h"
#include "table/hottest.h"
#include "table/rows.h"

enum { NAME_COLUMNS = 40, IMAGE_COLUMNS = 22, THREAD_COLUMNS = 18, NUMBER_COLUMNS = 18 };

static void put_column(struct pp_out *out, struct pd_bytes text, size_t columns)
{
	const bool is_cut = out->o.columns > 0;
	size_t used = pp_put_name(out, text, is_cut ? columns : 0);

	for (; used < columns; used++)
		pp_put_text(out, " ");
	pp_put_text(out, "  ");
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

/* Columns of a terminal for a key; 0: as many as are left. */
static size_t columns_of(enum pp_key key)
{
	static const size_t columns[] = { 0, 0, IMAGE_COLUMNS, 16, 10, 10, 8, 24, 28, 24 };

	return (size_t)key < sizeof(columns) / sizeof(*columns) ? columns[key] : 0;
}

/* Columns of the names of functions. */
static size_t name_columns(const struct pp_out *out)
{
	size_t others = NUMBER_COLUMNS + 12;

	if (!out->o.keys[0])
		others += IMAGE_COLUMNS + THREAD_COLUMNS;
	for (size_t i = 0; i < PP_NR_KEYS && out->o.keys[i]; i++)
		others += columns_of(out->o.keys[i]) + 2;
	return out->o.columns > others + NAME_COLUMNS ? out->o.columns - others : NAME_COLUMNS;
}

/* The last column is not filled up. */
static void put_keys(struct pp_out *out, const struct pp_rows *rows, const struct pp_row *r)
{
	for (size_t i = 0; i < PP_NR_KEYS && out->o.keys[i]; i++) {
		const enum pp_key key = out->o.keys[i];
		const size_t columns = columns_of(key) ? columns_of(key) : name_columns(out);
		const struct pd_bytes text = r ? pp_row_text(rows, r, key) :
						 pp_bytes(pp_key_word(key));

		if (i + 1 < PP_NR_KEYS && out->o.keys[i + 1])
			put_column(out, text, columns);
		else
			pp_put_name(out, text, out->o.columns ? columns : 0);
	}
}

/* Writes names that differ in their digits as one, "worker-* (3)", and of others the first. */
static void put_threads(struct pp_out *out, const struct pp_line *line)
{
	const size_t columns = out->o.columns ? THREAD_COLUMNS - 5 : 0;
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

static void put_function(struct pp_out *out, const struct pp_row *r)
{
	const struct pp_profile *p = out->p;

	put_column(out, pp_strings_at(&p->strings, r->function->name), name_columns(out));
	put_column(out, pp_image_text(p, r->function), IMAGE_COLUMNS);
	put_threads(out, r->line);
}

static void put_row(struct pp_out *out, const struct pp_rows *rows, const struct pp_row *r)
{
	const double self = share_of(r->self, r->all), total = share_of(r->total, r->all);
	const char *color = color_of(out, out->o.sort == PP_SORT_SELF ? self : total);

	pp_printf(out, "%s%6.1f %%  %6.1f %%%s  %9" PRIu64 "  ", color, self, total,
		  *color ? "\033[0m" : "", r->line->self_samples);
	if (out->o.keys[0])
		put_keys(out, rows, r);
	else
		put_function(out, r);
	pp_put_text(out, "\n");
}

static int put_table(struct pp_out *out, const struct pp_rows *rows)
{
	const size_t n = rows->lines.nr;
	const size_t most = out->o.rows && out->o.rows < n ? out->o.rows : n;
	struct pp_graphs graphs = { 0 };
	int ret = out->o.graph ? pp_graphs_make(&graphs, out, &rows->lines) : 0;
	size_t shown = 0;

	pp_put_text(out, "\n  self     total      samples  ");
	if (out->o.keys[0]) {
		put_keys(out, rows, NULL);
	} else {
		put_column(out, pp_bytes("function"), name_columns(out));
		put_column(out, pp_bytes("image"), IMAGE_COLUMNS);
		pp_put_text(out, "thread");
	}
	pp_put_text(out, "\n");
	for (size_t i = 0; i < n && shown < most && !ret; i++) {
		const struct pp_row *r = &rows->items[i];

		if (share_of(r->value, r->all) * 100 < out->o.min_permyriad)
			continue;
		put_row(out, rows, r);
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
