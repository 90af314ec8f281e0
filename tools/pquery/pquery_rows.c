/* pquery_rows.c - the rows of a query as a table, CSV or JSON. */
#include "pquery/pquery_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pd/bytes.h"

const char *const rows_words[] = { "table", "csv", "json", NULL };

enum { ROWS_TO_MEASURE = 1000, BYTES_TO_MEASURE = 1 << 20, WIDEST = 80 };

static void put_output(struct rows *r, const void *p, size_t n)
{
	output_write(r->out, p, n);
}

static void put_text(struct rows *r, const char *text)
{
	put_output(r, text, strlen(text));
}

static void put_repeated(struct rows *r, const char *text, size_t times)
{
	while (times--)
		put_text(r, text);
}

/* --- table --- */

/* Returns the characters of printable UTF-8. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Returns a copy that can be shown, or NULL without memory. */
static char *copy_printable(const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, text, n);
	copy[cli_make_printable(copy, n)] = '\0';
	return copy;
}

/* Returns a value as text, which NULL has none of. Without memory it is empty, and the rows
 * fail. */
static struct pd_bytes text_of(struct rows *r, int column)
{
	const bool is_null = sqlite3_column_type(r->statement, column) == SQLITE_NULL;
	const unsigned char *text = sqlite3_column_text(r->statement, column);

	r->failed |= !text && !is_null;
	return (struct pd_bytes){ text, text ?
				  (size_t)sqlite3_column_bytes(r->statement, column) : 0 };
}

/* Returns the digits of a blob, or NULL without memory. */
static char *copy_hex(struct rows *r, int column)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = sqlite3_column_blob(r->statement, column);
	const size_t n = bytes ? (size_t)sqlite3_column_bytes(r->statement, column) : 0;
	char *hex = malloc(2 * n + 1);

	r->failed |= !hex;
	for (size_t i = 0; hex && i < n; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	if (hex)
		hex[2 * n] = '\0';
	return hex;
}

/* Returns a value as text, a blob as hex, which the caller frees. */
static struct pd_bytes text_or_hex(struct rows *r, int column, char **hex)
{
	*hex = NULL;
	if (sqlite3_column_type(r->statement, column) != SQLITE_BLOB)
		return text_of(r, column);
	*hex = copy_hex(r, column);
	return (struct pd_bytes){ (const uint8_t *)*hex, *hex ? strlen(*hex) : 0 };
}

static char *copy_value(struct rows *r, int column)
{
	char *hex;
	const struct pd_bytes text = text_or_hex(r, column, &hex);

	return hex ? hex : copy_printable((const char *)text.data, text.size);
}

static void put_cell(struct rows *r, int column, const char *text)
{
	const size_t width = width_of(text), room = r->widths[column];
	const size_t blanks = width < room ? room - width : 0;

	if (column)
		put_text(r, "  ");
	if (r->are_numbers[column])
		put_repeated(r, " ", blanks);
	put_text(r, text);
	if (!r->are_numbers[column] && column + 1 < r->columns)
		put_repeated(r, " ", blanks);
}

static void put_heading(struct rows *r)
{
	r->before(r->ctx);
	if (r->results)
		put_text(r, "\n");
	for (int i = 0; i < r->columns; i++) {
		char *name = copy_printable(sqlite3_column_name(r->statement, i),
					    strlen(sqlite3_column_name(r->statement, i)));

		r->failed |= !name;
		if (name && r->widths[i] < width_of(name))
			r->widths[i] = width_of(name);
		put_cell(r, i, name ? name : "");
		free(name);
	}
	put_text(r, "\n");
	for (int i = 0; i < r->columns; i++) {
		put_text(r, i ? "  " : "");
		put_repeated(r, "-", r->widths[i]);
	}
	put_text(r, "\n");
}

/* Writes the rows that wait. */
static void flush_table(struct rows *r)
{
	if (!r->widths || r->capacity == SIZE_MAX)
		return;
	put_heading(r);
	for (size_t i = 0; i < r->nr_texts; i++) {
		const int column = (int)(i % (size_t)r->columns);

		put_cell(r, column, r->texts[i]);
		if (column + 1 == r->columns)
			put_text(r, "\n");
		free(r->texts[i]);
	}
	free(r->texts);
	r->texts = NULL;
	r->nr_texts = 0;
	r->capacity = SIZE_MAX;		/* the widths are known */
}

/* Returns 0, or -1 without memory; the text is then freed. */
static int keep_text(struct rows *r, char *text)
{
	const size_t more = r->capacity ? 2 * r->capacity : 256;
	char **texts = r->texts;

	if (r->nr_texts == r->capacity) {
		texts = realloc(r->texts, more * sizeof(*texts));
		if (!texts) {
			free(text);
			return -1;
		}
		r->texts = texts;
		r->capacity = more;
	}
	texts[r->nr_texts++] = text;
	r->bytes += strlen(text);
	return 0;
}

static void measure(struct rows *r, int column, const char *text)
{
	const int type = sqlite3_column_type(r->statement, column);
	size_t width = width_of(text);

	if (width > WIDEST)
		width = WIDEST;
	if (width > r->widths[column])
		r->widths[column] = width;
	if (type == SQLITE_TEXT || type == SQLITE_BLOB)
		r->are_numbers[column] = false;
}

static int add_to_table(struct rows *r)
{
	for (int i = 0; i < r->columns; i++) {
		char *text = copy_value(r, i);

		if (!text)
			return -1;
		if (r->capacity == SIZE_MAX) {
			put_cell(r, i, text);
			free(text);
			continue;
		}
		measure(r, i, text);
		if (keep_text(r, text))
			return -1;
	}
	if (r->capacity == SIZE_MAX)
		put_text(r, "\n");
	else if (r->count >= ROWS_TO_MEASURE || r->bytes >= BYTES_TO_MEASURE)
		flush_table(r);
	return 0;
}

/* --- CSV --- */

/* A control character is an escape, as in the CSV of preport; lines and tabs stay. */
static void put_csv_character(struct rows *r, const char *text, const struct cli_character *c)
{
	char escape[16];

	if (c->is_printable || *text == '\n' || *text == '\t') {
		put_output(r, text, c->size);
		return;
	}
	snprintf(escape, sizeof(escape), c->code < 0x100 || c->code >= CLI_NO_CHARACTER ?
		 "\\x%02x" : "\\u%04x", (unsigned int)(c->code % CLI_NO_CHARACTER));
	put_text(r, escape);
}

/* NULL is nothing, an empty text is quoted. */
static void put_csv_text(struct rows *r, const char *text, size_t n)
{
	bool is_quoted = !n;

	for (size_t i = 0; i < n; i++)
		is_quoted |= text[i] == '"' || text[i] == ',' || text[i] == '\n';
	put_text(r, is_quoted ? "\"" : "");
	while (n) {
		const struct cli_character c = cli_first_character(text, n);

		put_csv_character(r, text, &c);
		if (*text == '"')
			put_text(r, "\"");
		text += c.size;
		n -= c.size;
	}
	put_text(r, is_quoted ? "\"" : "");
}

static int add_csv(struct rows *r)
{
	for (int i = 0; i < r->columns; i++) {
		char *hex;
		const struct pd_bytes text = text_or_hex(r, i, &hex);

		put_text(r, i ? "," : "");
		if (text.data)
			put_csv_text(r, (const char *)text.data, text.size);
		free(hex);
	}
	put_text(r, "\n");
	return 0;
}

static void put_csv_heading(struct rows *r)
{
	for (int i = 0; i < r->columns; i++) {
		const char *name = sqlite3_column_name(r->statement, i);

		put_text(r, i ? "," : "");
		put_csv_text(r, name, strlen(name));
	}
	put_text(r, "\n");
}

/* --- JSON --- */

static void put_json_text(struct rows *r, const char *text, size_t n)
{
	char escape[16];

	put_text(r, "\"");
	while (n) {
		const struct cli_character c = cli_first_character(text, n);

		if (!c.is_printable) {
			snprintf(escape, sizeof(escape), "\\u%04x", c.code < CLI_NO_CHARACTER ?
				 (unsigned int)c.code : 0xfffd);
			put_text(r, escape);
		} else {
			put_text(r, c.code == '"' || c.code == '\\' ? "\\" : "");
			put_output(r, text, c.size);
		}
		text += c.size;
		n -= c.size;
	}
	put_text(r, "\"");
}

static void put_json_value(struct rows *r, int column)
{
	const int value_type = sqlite3_column_type(r->statement, column);
	char *hex;
	const struct pd_bytes text = text_or_hex(r, column, &hex);

	switch (value_type) {
	case SQLITE_NULL:
		put_text(r, "null");
		break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(r->statement, column)))
			put_output(r, text.data, text.size);
		else
			put_text(r, "null");
		break;
	case SQLITE_INTEGER:
		put_output(r, text.data, text.size);
		break;
	default:
		put_json_text(r, (const char *)text.data, text.size);
	}
	free(hex);
}

static bool has_key(char *const *keys, int n, const char *key)
{
	while (n--)
		if (strcmp(keys[n], key) == 0)
			return true;
	return false;
}

/* Returns the key of a column, which no column before it has: frame, frame:1. NULL without
 * memory. */
static char *make_key(struct rows *r, int column)
{
	const char *name = sqlite3_column_name(r->statement, column);
	char *key = strdup(name);

	for (int i = 1; key && has_key(r->keys, column, key); i++) {
		free(key);
		if (asprintf(&key, "%s:%d", name, i) < 0)
			key = NULL;
	}
	return key;
}

static void free_keys(struct rows *r)
{
	for (int i = 0; r->keys && i < r->columns; i++)
		free(r->keys[i]);
	free(r->keys);
	r->keys = NULL;
}

/* Returns 0, or -1 without memory. */
static int make_keys(struct rows *r)
{
	int made = 0;

	r->keys = calloc((size_t)r->columns + 1, sizeof(*r->keys));
	while (r->keys && made < r->columns && (r->keys[made] = make_key(r, made)))
		made++;
	return r->keys && made == r->columns ? 0 : -1;
}

static int add_json(struct rows *r)
{
	put_text(r, r->count > 1 ? ",\n" : "\n");
	for (int i = 0; i < r->columns; i++) {
		put_text(r, i ? ", " : "{");
		put_json_text(r, r->keys[i], strlen(r->keys[i]));
		put_text(r, ": ");
		put_json_value(r, i);
	}
	put_text(r, "}");
	return 0;
}

/* --- a result --- */

static void begin_output(struct rows *r)
{
	if (r->format == ROWS_TABLE)	/* the rows wait */
		return;
	r->before(r->ctx);
	if (r->format == ROWS_CSV && r->results)
		put_text(r, "\n");
	if (r->format == ROWS_CSV)
		put_csv_heading(r);
	else if (r->format == ROWS_JSON)
		put_text(r, "[");
}

int rows_begin(struct rows *r, sqlite3_stmt *statement)
{
	r->statement = statement;
	r->columns = sqlite3_column_count(statement);
	r->count = r->nr_texts = r->capacity = r->bytes = 0;
	r->texts = NULL;
	r->widths = calloc((size_t)r->columns + 1, sizeof(*r->widths));
	r->are_numbers = calloc((size_t)r->columns + 1, sizeof(*r->are_numbers));
	r->failed = !r->widths || !r->are_numbers || (r->format == ROWS_JSON && make_keys(r));
	for (int i = 0; i < r->columns && !r->failed; i++)
		r->are_numbers[i] = true;
	return r->failed ? -1 : 0;
}

int rows_add(struct rows *r)
{
	static int (*const adders[])(struct rows *) = { add_to_table, add_csv, add_json };

	if (!r->count++)
		begin_output(r);
	r->failed |= adders[r->format](r) != 0;
	return r->failed || r->out->error ? -1 : 0;
}

int rows_end(struct rows *r, bool is_whole)
{
	if (!r->count && is_whole && r->columns)
		begin_output(r);
	if (r->format == ROWS_TABLE && (r->count || (is_whole && r->columns)))
		flush_table(r);
	if (r->format == ROWS_JSON && is_whole && r->columns)
		put_text(r, r->count ? "\n]\n" : "]\n");
	r->results += is_whole && r->columns;
	for (size_t i = 0; i < r->nr_texts; i++)
		free(r->texts[i]);
	free(r->texts);
	free(r->widths);
	free(r->are_numbers);
	free_keys(r);
	r->widths = NULL;
	return r->failed || r->out->error ? -1 : 0;
}
