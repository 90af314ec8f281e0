/* out_diff.c - a table of how two recordings differ: the share of each function before and after.
 *
 * Functions are the same if their names and the last parts of their images' paths are, so that
 * other builds and directories compare. Shares, not sums: recordings differ in length.
 */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

struct change {
	double before, after;	/* percent of all */
	const struct pp_profile *of;	/* whose strings the function has */
	const struct pp_named *function;
};

struct diff {
	struct change *changes;
	size_t nr;
	uint64_t all[2];
};

static int compare_bytes(struct pd_bytes a, struct pd_bytes b)
{
	const size_t size = a.size < b.size ? a.size : b.size;
	const int order = size ? memcmp(a.data, b.data, size) : 0;

	return order ? order : a.size < b.size ? -1 : a.size > b.size;
}

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
	const int order = compare_bytes(name_of(a), name_of(b));

	return order ? order : compare_bytes(image_of(a), image_of(b));
}

static double size_of(const struct change *c)
{
	return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static int compare_changes(const void *a, const void *b)
{
	const double x = size_of(a), y = size_of(b);

	return x != y ? x > y ? -1 : 1 : compare_names(a, b);
}

/* Adds the shares of one recording. Returns 0, or -1 without memory. */
static int add_shares(struct diff *d, struct pp_out *out, struct pp_profile *p, size_t event,
		      bool is_after)
{
	const uint64_t all = pp_total(&p->merged[p->events[event].merged], out->o.measure);
	struct pp_lines lines = { 0 };
	const int ret = pp_lines_make(&lines, p, event, NULL);

	d->all[is_after] = all;
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
		*(is_after ? &c->after : &c->before) = 100.0 * (double)value / (double)all;
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
			last->before += d->changes[i].before;
			last->after += d->changes[i].after;
		} else {
			d->changes[kept++] = d->changes[i];
		}
	}
	d->nr = kept;
	qsort(d->changes, d->nr, sizeof(*d->changes), compare_changes);
}

static void put_changes(struct pp_out *out, const struct diff *d)
{
	const size_t shown = out->o.rows && out->o.rows < d->nr ? out->o.rows : d->nr;
	size_t i;

	pp_printf(out, "\n  before     after    change  function, by %s\n",
		  out->o.sort == PP_SORT_SELF ? "self" : "total");
	for (i = 0; i < shown; i++) {
		const struct change *c = &d->changes[i];
		const double change = c->after - c->before;
		const bool is_red = out->o.colors == PP_COLORS && change >= 0.5;
		const bool is_green = out->o.colors == PP_COLORS && change <= -0.5;

		if (size_of(c) * 100 < out->o.min_permyriad)
			break;
		pp_printf(out, "%6.2f %%  %6.2f %%  %s%+7.2f%s  ", c->before, c->after,
			  is_red ? "\033[31m" : is_green ? "\033[32m" : "", change,
			  is_red || is_green ? "\033[0m" : "");
		pp_put_name(out, name_of(c), out->o.columns > 60 ? out->o.columns - 56 : 0);
		pp_put_text(out, "  ");
		pp_put_name(out, pp_image_text(c->of, c->function), out->o.columns ? 22 : 0);
		pp_put_text(out, "\n");
	}
	if (i < d->nr)
		pp_printf(out, "%zu more functions\n", d->nr - i);
}

int pp_write_diff(struct pp_out *out)
{
	struct pp_profile *p = out->p, *base = out->o.base;
	const size_t room = p->nr_functions + base->nr_functions, event = pp_main_event(base);
	struct diff d = { .changes = pp_memory_zeroed(&p->memory, room, sizeof(*d.changes)) };
	int ret = -1;

	if (d.changes && !add_shares(&d, out, base, event, false) &&
	    !add_shares(&d, out, p, out->o.event, true)) {
		struct pp_out before = { .p = base, .o = out->o, .to = out->to };

		before.o.event = event;
		before.o.title = out->o.base_title;
		pp_put_summary(&before);
		pp_put(out, before.buffer, before.used);
		pp_put_summary(out);
		join_shares(&d);
		put_changes(out, &d);
		ret = before.error;
	}
	pp_memory_free(&p->memory, d.changes, room, sizeof(*d.changes));
	return ret;
}
