/* out_diff.c - a table of how two recordings differ: the share of each function before and after.
 *
 * Functions are the same if their names and the last parts of their images' paths are, so that
 * other builds and directories compare. Shares, if sums are not asked for: recordings differ in
 * length.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "encoding/csv.h"
#include "encoding/json.h"
#include "table/function_name.h"
#include "table/rows.h"

enum side { BEFORE, AFTER, SIDES };

struct change {
	double shares[SIDES];	/* percent of all; or sums, those of clocks in ms */
	uint64_t sums[SIDES];	/* as they are */
	const struct pp_profile *of;	/* whose strings the function has */
	const struct pp_named *function;
};

struct diff {
	struct change *changes;
	size_t nr;
	double whole;		/* 100; or the larger of the sums */
	bool is_sums;
};

static struct pd_bytes name_of(const struct change *c)
{
	return pp_strings_at(&c->of->strings, c->function->name);
}

static struct pd_bytes image_of(const struct change *c)
{
	return pp_image_text(c->of, c->function);
}

static int compare_names(const void *a, const void *b)
{
	const int order = pd_compare_bytes(name_of(a), name_of(b));

	return order ? order : pd_compare_bytes(image_of(a), image_of(b));
}

static double change_of(const struct change *c)
{
	return c->shares[AFTER] - c->shares[BEFORE];
}

static double size_of(const struct change *c)
{
	return change_of(c) < 0 ? -change_of(c) : change_of(c);
}

static int compare_changes(const void *a, const void *b)
{
	const double x = size_of(a), y = size_of(b);

	return x != y ? x > y ? -1 : 1 : compare_names(a, b);
}

static bool is_time(const struct pp_out *out, const struct pp_profile *p, size_t event)
{
	return p->events[event].weigher.is_time && out->o.measure == PP_BY_PERIOD;
}

/* Adds the shares of one recording. Returns 0, or -1 without memory. */
static int add_shares(struct diff *d, struct pp_out *out, struct pp_profile *p, size_t event,
		      enum side side)
{
	const uint64_t all = pp_total(&p->merged[p->events[event].merged], out->o.measure);
	const double scale = !d->is_sums ? 100.0 / (double)all : is_time(out, p, event) ? 1e-6 : 1;
	struct pp_lines lines = { 0 };
	const int ret = pp_lines_make(&lines, p, event, NULL);

	if (d->is_sums && (double)all * scale > d->whole)
		d->whole = (double)all * scale;
	for (size_t i = 0; !ret && i < lines.nr; i++) {
		const bool by_self = out->o.sort == PP_SORT_SELF;
		const struct pp_line *s = &lines.items[i];
		const uint64_t value = out->o.measure == PP_BY_PERIOD ?
			by_self ? s->self_weight : s->total_weight :
			by_self ? s->self_samples : s->total_samples;
		struct change *c = &d->changes[d->nr];

		if (!value)
			continue;
		*c = (struct change){ .of = p, .function = &p->functions[s->function] };
		c->shares[side] = (double)value * scale;
		c->sums[side] = value;
		d->nr++;
	}
	pp_lines_free(&lines);
	return ret;
}

/* Joins the entries of one function, and puts the largest changes first. */
static void join_shares(struct diff *d)
{
	size_t kept = 0;

	qsort(d->changes, d->nr, sizeof(*d->changes), compare_names);
	for (size_t i = 0; i < d->nr; i++) {
		struct change *last = kept ? &d->changes[kept - 1] : NULL;

		if (last && compare_names(last, &d->changes[i]) == 0) {
			for (enum side side = BEFORE; side < SIDES; side++) {
				last->shares[side] += d->changes[i].shares[side];
				last->sums[side] += d->changes[i].sums[side];
			}
		} else {
			d->changes[kept++] = d->changes[i];
		}
	}
	d->nr = kept;
	qsort(d->changes, d->nr, sizeof(*d->changes), compare_changes);
}

static void put_head(struct pp_out *out, const struct diff *d)
{
	const char *by = out->o.sort == PP_SORT_SELF ? "self" : "total";

	if (d->is_sums)
		pp_printf(out, "\n%15s %15s %15s  function, by %s%s\n", "before", "after",
			  "change", by,
			  is_time(out, out->p, out->o.event) ? ", in ms" : "");
	else
		pp_printf(out, "\n  before     after    change  function, by %s\n", by);
}

static void put_change(struct pp_out *out, const struct diff *d, const struct change *c)
{
	const double before = c->shares[BEFORE], after = c->shares[AFTER];
	const double part = change_of(c) / d->whole;
	const bool is_red = out->o.colors == PP_COLORS && part >= 0.005;
	const bool is_green = out->o.colors == PP_COLORS && part <= -0.005;
	const char *color = is_red ? "\033[31m" : is_green ? "\033[32m" : "";
	const char *end = *color ? "\033[0m" : "";
	const int digits = is_time(out, out->p, out->o.event) ? 3 : 0;
	const size_t room = d->is_sums ? 74 : 56;	/* columns of the rest */

	if (d->is_sums)
		pp_printf(out, "%15.*f %15.*f %s%+15.*f%s  ", digits, before, digits, after,
			  color, digits, change_of(c), end);
	else
		pp_printf(out, "%6.2f %%  %6.2f %%  %s%+7.2f%s  ", before, after, color,
			  change_of(c), end);
	pp_put_function_name(out, name_of(c),
			     out->o.columns > room + 20 ? out->o.columns - room : 0);
	pp_put_text(out, "  ");
	pp_put_name(out, pp_image_text(c->of, c->function), out->o.columns ? 22 : 0);
	pp_put_text(out, "\n");
}

static void put_changes(struct pp_out *out, const struct diff *d)
{
	const size_t shown = out->o.rows && out->o.rows < d->nr ? out->o.rows : d->nr;
	size_t i;

	put_head(out, d);
	for (i = 0; i < shown; i++) {
		if (size_of(&d->changes[i]) * 10000 < out->o.min_permyriad * d->whole)
			break;
		put_change(out, d, &d->changes[i]);
	}
	if (i < d->nr)
		pp_printf(out, "%zu more function%s\n", d->nr - i, pp_plural(d->nr - i));
}

/* Rows for other programs have the sums: shares are of the totals. */
static void put_csv(struct pp_out *out, const struct diff *d, size_t shown)
{
	pp_put_text(out, "function,image,before,after,difference\n");
	for (size_t i = 0; i < shown; i++) {
		const struct change *c = &d->changes[i];

		pp_csv_string(out, name_of(c));
		pp_put_text(out, ",");
		pp_csv_string(out, image_of(c));
		pp_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRId64 "\n", c->sums[BEFORE],
			  c->sums[AFTER], (int64_t)(c->sums[AFTER] - c->sums[BEFORE]));
	}
}

static uint64_t total_of(const struct pp_out *out, const struct pp_profile *p, size_t event)
{
	return pp_total(&p->merged[p->events[event].merged], out->o.measure);
}

static void put_json(struct pp_out *out, const struct diff *d, size_t shown, size_t base_event)
{
	pp_put_text(out, "{\"event\":");
	pp_json_text(out, out->p->events[out->o.event].weigher.name);
	pp_printf(out, ",\"unit\":\"%s\",\"by\":\"%s\",\"before\":%" PRIu64 ",\"after\":%" PRIu64
		  ",\"rows\":[", is_time(out, out->p, out->o.event) ? "ns" : "count",
		  out->o.sort == PP_SORT_SELF ? "self" : "total",
		  total_of(out, out->o.base, base_event), total_of(out, out->p, out->o.event));
	for (size_t i = 0; i < shown; i++) {
		const struct change *c = &d->changes[i];

		pp_put_text(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		pp_json_string(out, name_of(c));
		pp_put_text(out, ",\"image\":");
		pp_json_string(out, image_of(c));
		pp_printf(out, ",\"before\":%" PRIu64 ",\"after\":%" PRIu64 ",\"difference\":%"
			  PRId64 "}", c->sums[BEFORE], c->sums[AFTER],
			  (int64_t)(c->sums[AFTER] - c->sums[BEFORE]));
	}
	pp_put_text(out, "\n]}\n");
}

/* Returns 0, or what the output's function returned. */
static int put_table(struct pp_out *out, const struct diff *d, size_t event)
{
	struct pp_out before = { .p = out->o.base, .o = out->o, .to = out->to };

	before.o.event = event;
	before.o.title = out->o.base_title;
	pp_put_summary(&before);
	pp_put(out, before.buffer, before.used);
	pp_put_summary(out);
	put_changes(out, d);
	return before.error;
}

int pp_write_diff(struct pp_out *out)
{
	struct pp_profile *p = out->p, *base = out->o.base;
	const size_t room = p->nr_functions + base->nr_functions,
		     event = pp_compared_event(base, p, out->o.event);
	struct diff d = { .changes = pp_memory_zeroed(&p->memory, room, sizeof(*d.changes)),
			  .is_sums = out->o.compare == PP_COMPARE_SUMS };
	size_t shown;
	int ret = -1;

	d.whole = d.is_sums ? 0 : 100;
	if (d.changes && !add_shares(&d, out, base, event, BEFORE) &&
	    !add_shares(&d, out, p, out->o.event, AFTER)) {
		join_shares(&d);
		shown = out->o.rows && out->o.rows < d.nr ? out->o.rows : d.nr;
		ret = 0;
		if (out->o.format == PP_CSV)
			put_csv(out, &d, shown);
		else if (out->o.format == PP_JSON)
			put_json(out, &d, shown, event);
		else
			ret = put_table(out, &d, event);
	}
	pp_memory_free(&p->memory, d.changes, room, sizeof(*d.changes));
	return ret;
}
