/* rows.c - the table of functions, as a terminal, CSV and JSON show it. */
#include "table/rows.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *a, const void *b)
{
	const struct pp_row *x = a, *y = b;
	int order;

	if (x->line->event != y->line->event) {
		if (x->event_samples != y->event_samples)
			return x->event_samples > y->event_samples ? -1 : 1;
		return x->line->event < y->line->event ? -1 : 1;
	}
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	order = strcmp((const char *)x->name, (const char *)y->name);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static void fill_row(const struct pp_out *out, const struct pp_line *line, struct pp_row *r)
{
	const struct pp_profile *p = out->p;
	const bool by_period = out->o.measure == PP_BY_PERIOD;
	const struct pp_merged *root = &p->merged[p->events[line->event].merged];

	*r = (struct pp_row){
		.self = by_period ? line->self_weight : line->self_samples,
		.total = by_period ? line->total_weight : line->total_samples,
		.all = pp_total(root, out->o.measure), .event_samples = root->total_samples,
		.function = &p->functions[line->function], .line = line,
		.name = pp_strings_at(&p->strings, p->functions[line->function].name).data,
	};
	r->value = out->o.sort == PP_SORT_SELF ? r->self : r->total;
	r->second = out->o.sort == PP_SORT_SELF ? r->total : r->self;
}

int pp_rows_make(struct pp_rows *rows, struct pp_out *out)
{
	if (pp_lines_make(&rows->lines, out->p, out->o.event, out->o.keys))
		return -1;
	rows->items = pp_memory_zeroed(&out->p->memory, rows->lines.nr, sizeof(*rows->items));
	if (!rows->items)
		return -1;
	for (size_t i = 0; i < rows->lines.nr; i++)
		fill_row(out, &rows->lines.items[i], &rows->items[i]);
	qsort(rows->items, rows->lines.nr, sizeof(*rows->items), compare_rows);
	return 0;
}

void pp_rows_free(struct pp_rows *rows)
{
	pp_memory_free(&rows->lines.p->memory, rows->items, rows->lines.nr, sizeof(*rows->items));
	pp_lines_free(&rows->lines);
}

const char *pp_key_word(enum pp_key key)
{
	static const char *const words[] = { "", "function", "image", "comm", "pid", "tid", "cpu",
					     "cgroup", "srcline", "event" };

	return (size_t)key < sizeof(words) / sizeof(*words) ? words[key] : "";
}

bool pp_key_is_number(enum pp_key key)
{
	return key == PP_KEY_PID || key == PP_KEY_TID || key == PP_KEY_CPU;
}

struct pd_bytes pp_image_text(const struct pp_profile *p, const struct pp_named *f)
{
	if (f->kind == PP_KIND_KERNEL)
		return pp_bytes("[k]");
	if (f->kind == PP_KIND_JIT)
		return pp_bytes("[JIT]");
	return pp_last_part(pp_strings_at(&p->strings, f->image));
}

struct pd_bytes pp_row_text(const struct pp_rows *rows, const struct pp_row *row, enum pp_key key)
{
	const size_t word = strlen("pid ");
	struct pd_bytes text = { 0 };

	if (key == PP_KEY_IMAGE)
		return pp_image_text(rows->lines.p, row->function);
	if (row->line->values[key] != PP_NONE)
		text = pp_strings_at(&rows->lines.p->strings, row->line->values[key]);
	if (key == PP_KEY_LINE)
		return pp_last_part(text);
	if (pp_key_is_number(key) && text.size > word && *text.data != '[')
		text = (struct pd_bytes){ text.data + word, text.size - word };
	return text;
}
