/* describe_text.c - JSON text that is built in memory and then laid out for people. */
#include "schema/describe_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 120

static void put(struct pd_buf *b, const char *text)
{
	pd_buf_append(b, text, strlen(text));
}

static void put_char(struct pd_buf *b, char c)
{
	pd_buf_append(b, &c, 1);
}

static void comma(struct pd_buf *b)
{
	if (b->size && !strchr("[{:", b->data[b->size - 1]))
		put_char(b, ',');
}

void pd_text_open(struct pd_buf *b, char bracket)
{
	comma(b);
	put_char(b, bracket);
}

void pd_text_close(struct pd_buf *b, char bracket)
{
	put_char(b, bracket);
}

static void put_escaped(struct pd_buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			put_char(b, '\\');
		put_char(b, *text);
	}
}

void pd_text_key2(struct pd_buf *b, const char *key, const char *suffix)
{
	comma(b);
	put_char(b, '"');
	put_escaped(b, key);
	put_escaped(b, suffix);
	put(b, "\":");
}

void pd_text_key(struct pd_buf *b, const char *key)
{
	pd_text_key2(b, key, "");
}

void pd_text_string(struct pd_buf *b, const char *text)
{
	comma(b);
	put_char(b, '"');
	put_escaped(b, text);
	put_char(b, '"');
}

void pd_text_unsigned(struct pd_buf *b, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	comma(b);
	put(b, text);
}

void pd_text_signed(struct pd_buf *b, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	comma(b);
	put(b, text);
}

void pd_text_member(struct pd_buf *b, const char *key, const char *text)
{
	pd_text_key(b, key);
	pd_text_string(b, text);
}

void pd_text_json(struct pd_buf *b, const char *json)
{
	if (*json != '}' && *json != ']')
		comma(b);
	for (; *json; json++)
		put_char(b, *json == '\'' ? '"' : *json);
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

/* Where the value at p ends. */
static const char *value_end(const char *p, const char *end)
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

/* On one line, a space behind each comma and colon. Returns its columns; writes only where out is there. */
static size_t flat(const char *p, const char *end, struct pd_buf *out)
{
	size_t columns = 0;
	bool quoted = false;

	for (; p < end; p++, columns++) {
		if (out)
			put_char(out, *p);
		if (*p == '\\' && quoted) {
			p++;
			columns++;
			if (out)
				put_char(out, *p);
			continue;
		}
		if (*p == '"')
			quoted = !quoted;
		if (!quoted && (*p == ',' || *p == ':')) {
			columns++;
			if (out)
				put_char(out, ' ');
		}
	}
	return columns;
}

static void new_line(struct pd_buf *out, unsigned int depth)
{
	put_char(out, '\n');
	for (unsigned int i = 0; i < depth; i++)
		put(out, "  ");
}

/* An array of plain values fills its lines. */
static bool is_plain_array(const char *p, const char *end)
{
	if (*p != '[')
		return false;
	for (p++; p < end; p = value_end(p, end) + 1)
		if (*p == '{' || *p == '[')
			return false;
	return true;
}

static void fill(const char *p, const char *end, struct pd_buf *out, unsigned int depth)
{
	size_t column = COLUMNS;

	put_char(out, '[');
	for (p++; p < end - 1;) {
		const char *next = value_end(p, end);
		size_t columns = flat(p, next, NULL) + 1;

		if (column + 1 + columns > COLUMNS) {
			new_line(out, depth + 1);
			column = 2 * (depth + 1);
		} else {
			put_char(out, ' ');
			column++;
		}
		flat(p, next, out);
		if (*next == ',')
			put_char(out, ',');
		column += columns;
		p = next + 1;
	}
	new_line(out, depth);
	put_char(out, ']');
}

/* The value at p, behind `column` columns of its line. */
static void lay_out(const char *p, const char *end, struct pd_buf *out, unsigned int depth, size_t column)
{
	bool object = *p == '{';

	if ((!object && *p != '[') || column + flat(p, end, NULL) + 1 <= COLUMNS) {
		flat(p, end, out);
		return;
	}
	if (is_plain_array(p, end)) {
		fill(p, end, out, depth);
		return;
	}
	put_char(out, *p);
	for (p++; p < end - 1;) {
		const char *next = value_end(p, end);

		column = 2 * (depth + 1);
		new_line(out, depth + 1);
		if (object) {
			column += flat(p, next + 1, out);
			p = next + 1;
			next = value_end(p, end);
		}
		lay_out(p, next, out, depth + 1, column);
		if (*next == ',')
			put_char(out, ',');
		p = next + 1;
	}
	new_line(out, depth);
	put_char(out, object ? '}' : ']');
}

void pd_text_lay_out(struct pd_bytes json, struct pd_buf *out)
{
	const char *p = (const char *)json.data;

	lay_out(p, p + json.size, out, 0, 0);
	put_char(out, '\n');
}
