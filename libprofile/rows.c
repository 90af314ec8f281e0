/* rows.c - the table of functions, as a terminal, CSV and JSON show it. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *a, const void *b)
{
	const struct pp_row *x = a, *y = b;
	int order;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	order = strcmp((const char *)x->name, (const char *)y->name);
	return order ? order : x->function < y->function ? -1 : x->function > y->function;
}

/* Tasks and the event are no functions. */
static bool is_in_table(const struct pp_named *f, const struct pp_sum *sum)
{
	return sum->total_samples && f->kind != PP_KIND_THREAD && f->kind != PP_KIND_EVENT;
}

size_t pp_rows_collect(const struct pp_out *out, const struct pp_sum *sums, struct pp_row *rows)
{
	const struct pp_profile *p = out->p;
	const bool by_period = out->o.measure == PP_BY_PERIOD;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_functions; i++) {
		const struct pp_sum *s = &sums[i];
		struct pp_row *r = &rows[n];

		if (!is_in_table(&p->functions[i], s))
			continue;
		*r = (struct pp_row){
			.self = by_period ? s->self_weight : s->self_samples,
			.total = by_period ? s->total_weight : s->total_samples,
			.samples = s->self_samples, .function = &p->functions[i], .sum = s,
			.name = pp_strings_at(&p->strings, p->functions[i].name).data,
		};
		r->value = out->o.sort == PP_SORT_SELF ? r->self : r->total;
		r->second = out->o.sort == PP_SORT_SELF ? r->total : r->self;
		n++;
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}
