/* out_table.c - the table of functions for other programs: CSV and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "rows.h"

/* A field in quotes. A text that a spreadsheet would take for a formula begins with a quote. */
static void put_csv_string(struct pp_out *out, struct pd_bytes text)
{
	pp_put_text(out, text.size && strchr("=+-@", *text.data) ? "\"'" : "\"");
	while (text.size) {
		const uint8_t *quote = memchr(text.data, '"', text.size);
		const size_t size = quote ? (size_t)(quote - text.data) + 1 : text.size;
		struct pd_bytes part = { text.data, quote ? size - 1 : size };

		pp_put_name(out, part, 0);
		if (quote)
			pp_put_text(out, "\"\"");
		text = (struct pd_bytes){ text.data + size, text.size - size };
	}
	pp_put_text(out, "\"");
}

static void put_csv(struct pp_out *out, const struct pp_row *rows, size_t n)
{
	const struct pp_profile *p = out->p;

	pp_put_text(out, "function,image,build_id,self,total,samples\n");
	for (size_t i = 0; i < n; i++) {
		const struct pp_named *f = rows[i].function;
		char hex[PP_BUILD_ID_TEXT];

		put_csv_string(out, pp_strings_at(&p->strings, f->name));
		pp_put_text(out, ",");
		put_csv_string(out, pp_strings_at(&p->strings, f->image));
		pp_printf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			  pp_build_id_of(p, f, hex), rows[i].self, rows[i].total, rows[i].samples);
	}
}

static void put_json(struct pp_out *out, const struct pp_row *rows, size_t n)
{
	const struct pp_profile *p = out->p;
	const struct pp_counted_event *e = &p->events[out->o.event];
	const struct pp_merged *root = &p->merged[e->merged];
	const bool is_time = e->weigher.is_time && out->o.measure == PP_BY_PERIOD;

	pp_put_text(out, "{\"event\":");
	pp_json_text(out, e->weigher.name);
	pp_printf(out, ",\"unit\":\"%s\",\"total\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"rows\":[",
		  is_time ? "ns" : "count", pp_total(root, out->o.measure), root->total_samples);
	for (size_t i = 0; i < n; i++) {
		const struct pp_named *f = rows[i].function;
		char hex[PP_BUILD_ID_TEXT];

		pp_put_text(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		pp_json_string(out, pp_strings_at(&p->strings, f->name));
		pp_put_text(out, ",\"image\":");
		pp_json_string(out, pp_strings_at(&p->strings, f->image));
		if (*pp_build_id_of(p, f, hex))
			pp_printf(out, ",\"build_id\":\"%s\"", hex);
		pp_printf(out, ",\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"samples\":%" PRIu64
			  "}", rows[i].self, rows[i].total, rows[i].samples);
	}
	pp_put_text(out, "\n]}\n");
}

int pp_write_table(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct pp_sum *sums = pp_sums_make(p, out->o.event);
	struct pp_row *rows = pp_memory_zeroed(&p->memory, p->nr_functions, sizeof(*rows));
	const int ret = sums && rows ? 0 : -1;

	if (!ret && out->o.format == PP_CSV)
		put_csv(out, rows, pp_rows_collect(out, sums, rows));
	else if (!ret)
		put_json(out, rows, pp_rows_collect(out, sums, rows));
	pp_memory_free(&p->memory, rows, p->nr_functions, sizeof(*rows));
	if (sums)
		pp_sums_free(p, sums);
	return ret;
}
