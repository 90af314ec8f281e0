/* out_top.c - a summary, a table of functions, and the hottest path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rows.h"

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

static struct pd_bytes image_of(const struct pp_profile *p, const struct pp_named *f)
{
	struct pd_bytes path = pp_strings_at(&p->strings, f->image);
	const uint8_t *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;

	if (f->kind == PP_KIND_KERNEL)
		return (struct pd_bytes){ (const uint8_t *)"[k]", 3 };
	if (slash && (size_t)(slash + 1 - path.data) < path.size)
		return (struct pd_bytes){ slash + 1,
					  path.size - (size_t)(slash + 1 - path.data) };
	return path;
}

static void put_row(struct pp_out *out, const struct pp_row *r, uint64_t all)
{
	const struct pp_profile *p = out->p;
	const double self = share_of(r->self, all), total = share_of(r->total, all);
	const char *color = color_of(out, out->o.sort == PP_SORT_SELF ? self : total);
	const size_t others = IMAGE_COLUMNS + THREAD_COLUMNS + NUMBER_COLUMNS + 12;
	const size_t name = out->o.columns > others + NAME_COLUMNS ? out->o.columns - others :
								  NAME_COLUMNS;

	pp_printf(out, "%s%6.1f %%  %6.1f %%%s  %9" PRIu64 "  ", color, self, total,
		  *color ? "\033[0m" : "", r->samples);
	put_column(out, pp_strings_at(&p->strings, r->function->name), name);
	put_column(out, image_of(p, r->function), IMAGE_COLUMNS);
	if (r->sum->thread != PP_NONE)
		pp_put_name(out, pp_strings_at(&p->strings, r->sum->thread),
			    out->o.columns ? THREAD_COLUMNS - 5 : 0);
	if (r->sum->nr_threads > 1)
		pp_printf(out, " +%" PRIu32, r->sum->nr_threads - 1);
	pp_put_text(out, "\n");
}

/* From the root to the heaviest child, until a function has more itself than any below it. */
static void put_path(struct pp_out *out, uint64_t all)
{
	const struct pp_profile *p = out->p;
	uint32_t at = p->events[out->o.event].merged;

	pp_put_text(out, "hottest path");
	for (int steps = 0; steps < 1024; steps++) {
		const struct pp_merged *n = &p->merged[at];

		if (steps) {
			pp_printf(out, "%s %.0f %% ", steps == 1 ? " " : " ›",
				  share_of(pp_total(n, out->o.measure), all));
			pp_put_name(out, pp_name_of(p, n), 0);
		}
		at = n->first_child;
		if (at == PP_NONE || pp_self(n, out->o.measure) >=
					     pp_total(&p->merged[at], out->o.measure))
			break;
	}
	pp_put_text(out, "\n");
}

static void put_table(struct pp_out *out, const struct pp_row *rows, size_t n, uint64_t all)
{
	const size_t shown = out->o.rows && out->o.rows < n ? out->o.rows : n;
	size_t i;

	pp_put_text(out, "\n  self     total      samples  function\n");
	for (i = 0; i < shown; i++) {
		if (share_of(rows[i].value, all) * 100 < out->o.min_permyriad)
			break;
		put_row(out, &rows[i], all);
	}
	if (i < n)
		pp_printf(out, "%zu more functions\n", n - i);
}

int pp_write_top(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	const struct pp_merged *root = &p->merged[p->events[out->o.event].merged];
	const uint64_t all = pp_total(root, out->o.measure);
	struct pp_sum *sums = pp_sums_make(p, out->o.event);
	struct pp_row *rows = pp_memory_zeroed(&p->memory, p->nr_functions, sizeof(*rows));
	const int ret = sums && rows ? 0 : -1;

	if (!ret) {
		pp_put_summary(out);
		put_table(out, rows, pp_rows_collect(out, sums, rows), all);
		put_path(out, all);
	}
	pp_memory_free(&p->memory, rows, p->nr_functions, sizeof(*rows));
	if (sums)
		pp_sums_free(p, sums);
	return ret;
}
