/* values.c - Arrow's buffers to SQLite's values.
 *
 * Source: "The Arrow C data interface" of the Arrow project. */
#include "api.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pq_is_number(const struct pc_column *c)
{
	static const char *const names[] = { "stack", "frame", "frames", "object", "event" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(c->name, names[i]) == 0)
			return true;
	return false;
}

bool pq_has_structs(const struct pc_column *c)
{
	return c->list || c->type == PC_STRUCT_LIST;
}

bool pq_is_hidden(const struct pc_column *c)
{
	return c->group || strcmp(c->name, "file_id") == 0;
}

const char *pq_column_name(const struct pc_table *t, size_t column, char buf[PQ_NAME_SIZE])
{
	const struct pc_column *c = &t->columns[column];

	snprintf(buf, PQ_NAME_SIZE, "%s%s%s", c->list ? t->columns[c->list].name : "",
		 c->list ? "." : strcmp(c->name, "file") == 0 ? "source_" : "", c->name);
	return buf;
}

const char *pq_type_name(const struct pc_column *c)
{
	const enum pc_type kind = c->type;

	switch (c->list ? PC_STRUCT_LIST : kind) {
	case PC_BOOL:
	case PC_INT32:
	case PC_INT64:
	case PC_UINT64:
		return "INTEGER";
	case PC_DOUBLE:
		return "REAL";
	case PC_BYTES:
		return "BLOB";
	default:
		return "TEXT";
	}
}

bool pq_is_integer(const struct pc_column *c)
{
	return !c->list && (c->type == PC_INT32 || c->type == PC_INT64 || c->type == PC_UINT64 ||
			    c->type == PC_BOOL);
}

int64_t pq_child(uint64_t columns, size_t column)
{
	return __builtin_popcountll(columns & ((1ull << column) - 1));
}

static bool is_null(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *valid = a->buffers[0];

	return valid && !(valid[row / 8] >> row % 8 & 1);
}

static int64_t number_at(const struct ArrowArray *a, enum pc_type kind, int64_t i)
{
	switch (kind) {
	case PC_BOOL:
		return ((const uint8_t *)a->buffers[1])[i / 8] >> i % 8 & 1;
	case PC_INT32:
	case PC_TEXT:
	case PC_INT32_LIST:
	case PC_TEXT_LIST:
		return ((const int32_t *)a->buffers[1])[i];
	default:
		return ((const int64_t *)a->buffers[1])[i];
	}
}

bool pq_integer(const struct ArrowArray *a, const struct pc_column *c, int64_t row, int64_t *out)
{
	if (is_null(a, row))
		return false;
	*out = number_at(a, c->type, row);
	return true;
}

const char *pq_text_at(const struct ArrowArray *a, int64_t i, size_t *n)
{
	const int32_t *ends = a->buffers[1];

	*n = (size_t)(ends[i + 1] - ends[i]);
	return (const char *)a->buffers[2] + ends[i];
}

int64_t pq_items(const struct ArrowArray *a, int64_t row, int64_t *first)
{
	const int32_t *ends = a->buffers[1];

	*first = ends[row];
	return is_null(a, row) ? 0 : ends[row + 1] - ends[row];
}

static void append_json_text(sqlite3_str *to, const char *text, size_t n)
{
	sqlite3_str_appendchar(to, 1, '"');
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f)
			sqlite3_str_appendf(to, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			sqlite3_str_appendf(to, "\\%c", c);
		else
			sqlite3_str_appendchar(to, 1, (char)c);
	}
	sqlite3_str_appendchar(to, 1, '"');
}

/* Appends an item of a list, or of a member of its structs. */
static void append_item(sqlite3_str *to, const struct pq_value *v)
{
	const enum pc_type kind = v->column->type;
	const struct ArrowArray *a = v->array;
	size_t size;
	const char *text;
	int64_t number;

	switch (kind) {
	case PC_TEXT:
	case PC_TEXT_LIST:
		text = pq_text_at(a, v->row, &size);
		append_json_text(to, text, size);
		break;
	case PC_BOOL:
		sqlite3_str_appendall(to, number_at(a, PC_BOOL, v->row) ? "true" : "false");
		break;
	default:
		number = number_at(a, kind, v->row);
		sqlite3_str_appendf(to, "%lld", (long long)
				    (number + (pq_is_number(v->column) && number >= 0 ? v->base :
					       0)));
	}
}

static void append_struct(sqlite3_str *to, const struct pq_value *v)
{
	for (int64_t i = 0; i < v->array->n_children; i++) {
		const struct pq_value member = { v->array->children[i], v->column + 1 + i, v->row,
						 v->base };

		sqlite3_str_appendf(to, "%s\"%s\":", i ? "," : "{", member.column->name);
		append_item(to, &member);
	}
	sqlite3_str_appendchar(to, 1, '}');
}

/* Returns the array of a list's items; of a member of its structs, if the column is one. */
static const struct ArrowArray *items_of(const struct pq_value *v)
{
	const struct ArrowArray *items = v->array->children[0];
	int64_t member = 0;

	if (!v->column->list)
		return items;
	while (v->column[-1 - member].type != PC_STRUCT_LIST)
		member++;
	return items->children[member];
}

static void give_list(sqlite3_context *to, const struct pq_value *v)
{
	struct pq_value item = { items_of(v), v->column, 0, v->base };
	sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(to));
	int64_t first, n = pq_items(v->array, v->row, &first);
	char *done;

	sqlite3_str_appendchar(json, 1, '[');
	for (item.row = first; item.row < first + n; item.row++) {
		if (item.row > first)
			sqlite3_str_appendchar(json, 1, ',');
		if (v->column->type == PC_STRUCT_LIST)
			append_struct(json, &item);
		else
			append_item(json, &item);
	}
	sqlite3_str_appendchar(json, 1, ']');
	done = sqlite3_str_finish(json);
	if (done)
		sqlite3_result_text(to, done, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(to);
}

static void give_text(sqlite3_context *to, const struct ArrowArray *a, int64_t i)
{
	size_t n;
	const char *text = pq_text_at(a, i, &n);

	sqlite3_result_text64(to, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void give_bytes(sqlite3_context *to, const struct ArrowArray *a, int64_t i)
{
	size_t n;
	const char *bytes = pq_text_at(a, i, &n);

	sqlite3_result_blob64(to, n ? bytes : "", n, SQLITE_TRANSIENT);
}

void pq_give(sqlite3_context *to, const struct pq_value *v)
{
	const enum pc_type kind = v->column->type;
	const struct ArrowArray *a = v->array;

	if (is_null(a, v->row))
		return;		/* NULL */
	switch (v->column->list ? PC_STRUCT_LIST : kind) {
	case PC_TEXT:
		give_text(to, a->dictionary, number_at(a, PC_TEXT, v->row));
		break;
	case PC_LONG_TEXT:
		give_text(to, a, v->row);
		break;
	case PC_BYTES:
		give_bytes(to, a, v->row);
		break;
	case PC_DOUBLE:
		sqlite3_result_double(to, ((const double *)a->buffers[1])[v->row]);
		break;
	case PC_INT32_LIST:
	case PC_INT64_LIST:
	case PC_UINT64_LIST:
	case PC_TEXT_LIST:
	case PC_STRUCT_LIST:
		give_list(to, v);
		break;
	default:
		sqlite3_result_int64(to, number_at(a, kind, v->row) + v->base);
	}
}
