/* out_table.c - the table of functions for other programs: CSV and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "encoding/csv.h"
#include "encoding/json.h"
#include "table/rows.h"

static void put_bytes(struct pp_out *out, struct pd_bytes text)
{
	pp_put(out, (const char *)text.data, text.size);
}

/* The number of a task that has ended is -1, which is no formula. */
static void put_csv_value(struct pp_out *out, struct pd_bytes text, enum pp_key key)
{
	if (!pp_key_is_number(key)) {
		pp_csv_string(out, text);
		return;
	}
	pp_put_text(out, "\"");
	pp_put_name(out, text, 0);
	pp_put_text(out, "\"");
}

static const enum pp_key functions[PP_NR_KEYS] = { PP_KEY_SYMBOL, PP_KEY_IMAGE };

static const enum pp_key *keys_of(const struct pp_out *out)
{
	return out->o.keys[0] ? out->o.keys : functions;
}

/* The text of a virtual machine's task is NUMBER@MACHINE. Returns the number. */
static struct pd_bytes number_of(struct pd_bytes text)
{
	const uint8_t *at = text.size ? memchr(text.data, '@', text.size) : NULL;

	return at ? (struct pd_bytes){ text.data, (size_t)(at - text.data) } : text;
}

/* Returns the pid of the virtual machine of a row's task; empty: it is the host's, or not known. */
static struct pd_bytes machine_of(const struct pp_rows *rows, const struct pp_row *row)
{
	static const enum pp_key tasks[] = { PP_KEY_PID, PP_KEY_TID };

	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		const struct pd_bytes text = pp_row_text(rows, row, tasks[i]);
		const size_t number = number_of(text).size;

		if (number < text.size)
			return (struct pd_bytes){ text.data + number + 1, text.size - number - 1 };
	}
	return pp_bytes("");
}

/* Paths are whole here. */
static struct pd_bytes text_of(const struct pp_rows *rows, const struct pp_row *row,
			       enum pp_key key)
{
	const struct pp_strings *s = &rows->lines.p->strings;

	if (key == PP_KEY_SYMBOL)
		return pp_strings_at(s, row->function->name);
	if (key == PP_KEY_LINE)
		return pp_strings_at(s, row->function->place);
	if (key == PP_KEY_IMAGE)
		return pp_strings_at(s, row->function->image);
	return pp_key_is_number(key) ? number_of(pp_row_text(rows, row, key)) :
				       pp_row_text(rows, row, key);
}

static bool have_machines(const struct pp_rows *rows)
{
	for (size_t k = 0; k < rows->lines.nr; k++)
		if (machine_of(rows, &rows->items[k]).size)
			return true;
	return false;
}

static size_t count_shown(const struct pp_out *out, const struct pp_rows *rows)
{
	const size_t most = out->o.rows ? out->o.rows : rows->lines.nr;

	return rows->lines.nr < most ? rows->lines.nr : most;
}

static void put_csv(struct pp_out *out, const struct pp_rows *rows)
{
	const enum pp_key *keys = keys_of(out);
	const bool has_machines = have_machines(rows);
	char hex[PP_BUILD_ID_TEXT];

	for (size_t i = 0; i < PP_NR_KEYS && keys[i]; i++)
		pp_printf(out, "%s%s,", pp_key_word(keys[i]),
			  keys[i] == PP_KEY_IMAGE ? ",build_id" : "");
	pp_printf(out, "self,total,samples%s\n", has_machines ? ",machine_pid" : "");
	for (size_t k = 0; k < count_shown(out, rows); k++) {
		const struct pp_row *r = &rows->items[k];

		for (size_t i = 0; i < PP_NR_KEYS && keys[i]; i++) {
			put_csv_value(out, text_of(rows, r, keys[i]), keys[i]);
			if (keys[i] == PP_KEY_IMAGE)
				pp_printf(out, ",%s", pp_build_id_of(out->p, r->function, hex));
			pp_put_text(out, ",");
		}
		pp_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, r->self, r->total,
			  r->line->self_samples);
		if (has_machines)
			pp_put_text(out, ",");
		put_bytes(out, machine_of(rows, r));
		pp_put_text(out, "\n");
	}
}

static void put_json_row(struct pp_out *out, const struct pp_rows *rows, const struct pp_row *r)
{
	const struct pd_bytes machine = machine_of(rows, r);
	const enum pp_key *keys = keys_of(out);
	char hex[PP_BUILD_ID_TEXT];

	for (size_t i = 0; i < PP_NR_KEYS && keys[i]; i++) {
		const struct pd_bytes text = text_of(rows, r, keys[i]);

		pp_printf(out, "\"%s\":", pp_key_word(keys[i]));
		if (!pp_key_is_number(keys[i]))
			pp_json_string(out, text);
		else if (text.size && *text.data != '[')
			put_bytes(out, text);
		else
			pp_put_text(out, "null");
		pp_put_text(out, ",");
		if (keys[i] == PP_KEY_IMAGE && *pp_build_id_of(out->p, r->function, hex))
			pp_printf(out, "\"build_id\":\"%s\",", hex);
	}
	if (machine.size) {
		pp_put_text(out, "\"machine_pid\":");
		put_bytes(out, machine);
		pp_put_text(out, ",");
	}
	pp_printf(out, "\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"samples\":%" PRIu64 "}",
		  r->self, r->total, r->line->self_samples);
}

/* Names of the events that have no rows. */
static void put_other_events(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	bool is_first = true;

	for (size_t i = 0; i < p->nr_events; i++) {
		if (i == out->o.event || !pp_is_column(p, i))
			continue;
		pp_put_text(out, is_first ? ",\"other_events\":[" : ",");
		pp_json_text(out, p->events[i].weigher.name);
		is_first = false;
	}
	pp_put_text(out, is_first ? "" : "]");
}

static void put_json(struct pp_out *out, const struct pp_rows *rows)
{
	const struct pp_profile *p = out->p;
	const struct pp_counted_event *e = &p->events[out->o.event];
	const struct pp_merged *root = &p->merged[e->merged];
	const bool is_time = e->weigher.is_time && out->o.measure == PP_BY_PERIOD;

	pp_put_text(out, "{\"event\":");
	pp_json_text(out, e->weigher.name);
	pp_printf(out, ",\"unit\":\"%s\",\"total\":%" PRIu64 ",\"samples\":%" PRIu64,
		  is_time ? "ns" : "count", pp_total(root, out->o.measure), root->total_samples);
	if (!pp_keys_have_event(out->o.keys))
		put_other_events(out);
	pp_put_text(out, ",\"rows\":[");
	for (size_t i = 0; i < count_shown(out, rows); i++) {
		pp_put_text(out, i ? ",\n{" : "\n{");
		put_json_row(out, rows, &rows->items[i]);
	}
	pp_put_text(out, "\n]}\n");
}

int pp_write_table(struct pp_out *out)
{
	struct pp_rows rows = { 0 };
	const int ret = pp_rows_make(&rows, out);

	if (!ret && out->o.format == PP_CSV)
		put_csv(out, &rows);
	else if (!ret)
		put_json(out, &rows);
	pp_rows_free(&rows);
	return ret;
}
