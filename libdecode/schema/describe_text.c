/* describe_text.c - build JSON text in memory and format it. */
#include "schema/describe_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 120

static void append_text(struct pd_buf *b, const char *text)
{
	pd_buf_append(b, text, strlen(text));
}

static void append_char(struct pd_buf *b, char c)
{
	pd_buf_append(b, &c, 1);
}

static void append_comma(struct pd_buf *b)
{
	if (b->size && !strchr("[{:", b->data[b->size - 1]))
		append_char(b, ',');
}

void pd_text_open(struct pd_buf *b, char bracket)
{
	append_comma(b);
	append_char(b, bracket);
}

void pd_text_close(struct pd_buf *b, char bracket)
{
	append_char(b, bracket);
}

static void append_escaped(struct pd_buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			append_char(b, '\\');
		append_char(b, *text);
	}
}

void pd_text_key2(struct pd_buf *b, const char *key, const char *suffix)
{
	append_comma(b);
	append_char(b, '"');
	append_escaped(b, key);
	append_escaped(b, suffix);
	append_text(b, "\":");
}

void pd_text_key(struct pd_buf *b, const char *key)
{
	pd_text_key2(b, key, "");
}

void pd_text_string(struct pd_buf *b, const char *text)
{
	append_comma(b);
	append_char(b, '"');
	append_escaped(b, text);
	append_char(b, '"');
}

void pd_text_unsigned(struct pd_buf *b, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	append_comma(b);
	append_text(b, text);
}

void pd_text_signed(struct pd_buf *b, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	append_comma(b);
	append_text(b, text);
}

void pd_text_member(struct pd_buf *b, const char *key, const char *text)
{
	pd_text_key(b, key);
	pd_text_string(b, text);
}

void pd_text_json(struct pd_buf *b, const char *json)
{
	if (*json != '}' && *json != ']')
		append_comma(b);
	for (; *json; json++)
		append_char(b, *json == '\'' ? '"' : *json);
}

void pd_text_format(struct pd_buf *b, const char *json, ...)
{
	char text[1000];
	va_list args;

	va_start(args, json);
	vsnprintf(text, sizeof(text), json, args);
	va_end(args);
	pd_text_json(b, text);
}

/* Returns the end of the value at p. */
static const char *find_value_end(const char *p, const char *end)
{
	unsigned int depth = 0;

	for (; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				if (*p == '\\')
					p++;
		} else if (*p == '{' || *p == '[') {
			depth++;
			continue;
		} else if (*p == '}' || *p == ']') {
			if (depth == 0)
				return p;
			depth--;
		} else if (depth || (*p != ',' && *p != ':')) {
			continue;
		}
		if (depth == 0)
			return *p == ',' || *p == ':' ? p : p + 1;
	}
	return end;
}

/* Writes the value on one line with a space after each comma and colon, unless out is NULL. Returns
 * its width. */
static size_t write_flat(const char *p, const char *end, struct pd_buf *out)
{
	size_t columns = 0;
	bool quoted = false;

	for (; p < end; p++, columns++) {
		if (out)
			append_char(out, *p);
		if (*p == '\\' && quoted) {
			p++;
			columns++;
			if (out)
				append_char(out, *p);
			continue;
		}
		if (*p == '"')
			quoted = !quoted;
		if (!quoted && (*p == ',' || *p == ':')) {
			columns++;
			if (out)
				append_char(out, ' ');
		}
	}
	return columns;
}

static void append_newline(struct pd_buf *out, unsigned int depth)
{
	append_char(out, '\n');
	for (unsigned int i = 0; i < depth; i++)
		append_text(out, "  ");
}

/* An array of scalars fills its lines. */
static bool is_plain_array(const char *p, const char *end)
{
	if (*p != '[')
		return false;
	for (p++; p < end; p = find_value_end(p, end) + 1)
		if (*p == '{' || *p == '[')
			return false;
	return true;
}

static void fill_lines(const char *p, const char *end, struct pd_buf *out, unsigned int depth)
{
	size_t column = COLUMNS;

	append_char(out, '[');
	for (p++; p < end - 1;) {
		const char *next = find_value_end(p, end);
		size_t columns = write_flat(p, next, NULL) + 1;

		if (column + 1 + columns > COLUMNS) {
			append_newline(out, depth + 1);
			column = 2 * (depth + 1);
		} else {
			append_char(out, ' ');
			column++;
		}
		write_flat(p, next, out);
		if (*next == ',')
			append_char(out, ',');
		column += columns;
		p = next + 1;
	}
	append_newline(out, depth);
	append_char(out, ']');
}

/* Formats the value at p, which starts at `column`. */
static void format_value(const char *p, const char *end, struct pd_buf *out, unsigned int depth,
			 size_t column)
{
	bool object = *p == '{';

	if ((!object && *p != '[') || column + write_flat(p, end, NULL) + 1 <= COLUMNS) {
		write_flat(p, end, out);
		return;
	}
	if (is_plain_array(p, end)) {
		fill_lines(p, end, out, depth);
		return;
	}
	append_char(out, *p);
	for (p++; p < end - 1;) {
		const char *next = find_value_end(p, end);

		column = 2 * (depth + 1);
		append_newline(out, depth + 1);
		if (object) {
			column += write_flat(p, next + 1, out);
			p = next + 1;
			next = find_value_end(p, end);
		}
		format_value(p, next, out, depth + 1, column);
		if (*next == ',')
			append_char(out, ',');
		p = next + 1;
	}
	append_newline(out, depth);
	append_char(out, object ? '}' : ']');
}

void pd_text_lay_out(struct pd_bytes json, struct pd_buf *out)
{
	const char *p = (const char *)json.data;

	format_value(p, p + json.size, out, 0, 0);
	append_char(out, '\n');
}
