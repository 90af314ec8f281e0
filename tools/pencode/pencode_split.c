/* pencode_split.c - cut JSON text into parts. It looks at brackets and strings only; the parser
 * checks the rest.
 */
#include "pencode/pencode_split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define KEY_SIZE 64
#define INVALID_CHAR 256	/* for a NUL, as 0 is the end */
/* Bytes that json-c takes at most for an object with its first keys, for an array, and for each
 * value and further key (0.16, measured: 770, 130 and 80). */
#define OBJECT_COST 800
#define ARRAY_COST 256
#define VALUE_COST 96
#define LONG_NUMBER_DIGITS 20		/* with the sign: the most that 64 bits need */

enum position {
	OUTSIDE,	/* before a document or line */
	MEMBERS,	/* in the document, before a key */
	ELEMENTS,	/* in an array whose elements are parts */
};

struct split {
	int fd;
	char *text;		/* unread from `from` on */
	size_t from, size, capacity, largest;
	uint64_t line, index;
	enum position place;
	bool ended, first;	/* first: no comma expected yet */
	bool long_number;	/* in the last measured value, like the next */
	uint64_t cost;
	char key[KEY_SIZE];
};

struct split *split_open(int fd, size_t largest)
{
	struct split *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct split){ .fd = fd, .capacity = 2 * CHUNK, .largest = largest, .line = 1 };
	s->text = malloc(s->capacity);
	if (!s->text) {
		free(s);
		return NULL;
	}
	return s;
}

void split_close(struct split *s)
{
	if (!s)
		return;
	free(s->text);
	free(s);
}

uint64_t split_line(const struct split *s)
{
	return s->line;
}

/* Appends text. Returns 1, 0 at the end, or -1. */
static int read_more(struct split *s, const char **why)
{
	ssize_t ret;

	if (s->ended)
		return 0;
	if (s->from) {
		memmove(s->text, s->text + s->from, s->size - s->from);
		s->size -= s->from;
		s->from = 0;
	}
	if (s->capacity - s->size < CHUNK) {
		char *bigger = s->capacity > s->largest ? NULL : realloc(s->text, 2 * s->capacity);

		if (!bigger) {
			*why = "one value is larger than --memory allows";
			return -1;
		}
		s->text = bigger;
		s->capacity *= 2;
	}
	do {
		ret = read(s->fd, s->text + s->size, CHUNK);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0) {
		*why = strerror(errno);
		return -1;
	}
	s->ended = ret == 0;
	s->size += (size_t)ret;
	return ret > 0;
}

/* Skips white space. Returns the next character, 0 at the end, or -1. */
static int peek_char(struct split *s, const char **why)
{
	for (;;) {
		while (s->from < s->size) {
			char c = s->text[s->from];

			if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
				return c ? (unsigned char)c : INVALID_CHAR;
			s->line += c == '\n';
			s->from++;
		}
		switch (read_more(s, why)) {
		case 0:
			return 0;
		case -1:
			return -1;
		}
	}
}

/* Reads until there is a character `at` bytes after `from`. Returns 1, 0 at the end, or -1. */
static inline int reach(struct split *s, size_t at, const char **why)
{
	int ret = 1;

	while (s->from + at >= s->size && ret > 0)
		ret = read_more(s, why);
	return ret;
}

/* Returns the number of characters before a quote or backslash. */
static size_t count_plain(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

/* Moves *at from a string's first quote to its last one. Returns 1, 0 if the input ends before it,
 * or -1. */
static int skip_string(struct split *s, size_t *at, const char **why)
{
	int ret;

	for (++*at; (ret = reach(s, *at, why)) > 0;) {
		*at += count_plain(s->text + s->from + *at, s->text + s->size);
		if (s->from + *at >= s->size)
			continue;
		if (s->text[s->from + *at] == '"')
			return 1;
		*at += 2;	/* what follows a backslash is no quote */
	}
	return ret;
}

/* Returns whether the character ends a number or word: it belongs to what is around it. */
static bool ends_word(char c)
{
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Measures the value `start` bytes after `from`, up to its last byte, and counts its keys at any
 * depth. Returns 1, 0 if the input ends inside it, or -1. */
static int measure_value(struct split *s, size_t start, size_t *size, size_t *members,
			 const char **why)
{
	size_t depth = 0, at, digits = 0;
	bool is_word = false;
	int ret;

	*members = 0;
	s->long_number = false;
	s->cost = 0;
	for (at = start; (ret = reach(s, at, why)) > 0; at++) {
		const char c = s->text[s->from + at];

		digits = c >= '0' && c <= '9' ? digits + 1 : c == '-';
		s->long_number |= digits >= LONG_NUMBER_DIGITS;
		if (!depth && ends_word(c)) {
			*size = at - start;
			return 1;
		}
		if (c == '"') {
			ret = skip_string(s, &at, why);
			if (ret <= 0)
				return ret;
		} else if (c == '{' || c == '[') {
			s->cost += c == '{' ? OBJECT_COST : ARRAY_COST;
			depth++;
		} else if (c == '}' || c == ']') {
			depth--;
		} else {
			*members += c == ':';
			s->cost += c == ':' || c == ',' ? VALUE_COST : 0;
			is_word |= !depth && c != ':';
			continue;
		}
		if (!depth && (c != '"' || !is_word)) {
			*size = at + 1 - start;
			return 1;
		}
	}
	*size = at - start;
	return ret < 0 ? ret : is_word && !depth;
}

static int take_value(struct split *s, struct split_part *out, const char **why)
{
	size_t size = 0, members;
	int ret = measure_value(s, 0, &size, &members, why);

	if (ret <= 0 || !size) {
		if (ret >= 0)
			*why = ret ? "expected a value" : "unexpected end of the JSON";
		return -1;
	}
	*out = (struct split_part){ .key = s->key, .text = s->text + s->from, .size = size,
				    .members = members, .line = s->line, .index = s->index,
				    .has_long_number = s->long_number, .cost = s->cost + size,
				    .is_element = s->place == ELEMENTS };
	for (const char *at = out->text,
	     *end = at + size; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		s->line++;
	s->from += size;
	s->first = false;
	return 1;
}

static int take_char(struct split *s, int c, const char *otherwise, const char **why)
{
	int ret = peek_char(s, why);

	if (ret < 0)
		return -1;
	if (ret != c) {
		*why = otherwise;
		return -1;
	}
	s->from++;
	return 0;
}

/* Takes a key of the document, and its colon. */
static int take_key(struct split *s, const char **why)
{
	struct split_part key;

	if (peek_char(s, why) != '"') {
		*why = "expected a key";
		return -1;
	}
	if (take_value(s, &key, why) < 0)
		return -1;
	memset(s->key, 0, sizeof(s->key));
	if (key.size - 2 < sizeof(s->key))
		memcpy(s->key, key.text + 1, key.size - 2);
	if (!s->key[0])
		s->key[0] = '?';	/* "" marks lines */
	return take_char(s, ':', "expected a colon after the key", why);
}

/* Skips white space from *at bytes after `from`. Returns the character there, 0 at the end, or
 * -1. */
static int peek_char_at(struct split *s, size_t *at, const char **why)
{
	for (;; ++*at) {
		if (s->from + *at >= s->size) {
			int ret = read_more(s, why);

			if (ret <= 0)
				return ret;
		}
		if (!s->text[s->from + *at])
			return INVALID_CHAR;
		if (!strchr(" \t\n\r", s->text[s->from + *at]))
			return (unsigned char)s->text[s->from + *at];
	}
}

static bool key_is(const struct split *s, size_t at, size_t size, const char *key)
{
	return size == strlen(key) + 2 && memcmp(s->text + s->from + at + 1, key, size - 2) == 0;
}

enum object_shape {
	SHAPE_LINE,
	SHAPE_DOCUMENT,	/* also for invalid JSON, which is reported when its parts are taken */
	SHAPE_OTHER,
};

/* A line has a "kind". A document has a key that is encoded with an array or object as its value (a
 * record's `file` is text, a summary's `records` a number). Keys come in any order. */
static enum object_shape detect_shape(struct split *s, const char **why)
{
	size_t at = 1, size, members;

	for (;;) {
		int c = peek_char_at(s, &at, why);
		bool is_part;

		if (c == ',') {
			at++;
			continue;
		}
		if (c == '}')
			return SHAPE_OTHER;
		if (c != '"' || measure_value(s, at, &size, &members, why) <= 0)
			return SHAPE_DOCUMENT;
		if (key_is(s, at, size, "kind"))
			return SHAPE_LINE;
		is_part = key_is(s, at, size, "records") || key_is(s, at, size, "attrs") ||
			  key_is(s, at, size, "features") || key_is(s, at, size, "file");
		at += size;
		if (peek_char_at(s, &at, why) != ':')
			return SHAPE_DOCUMENT;
		at++;
		c = peek_char_at(s, &at, why);
		if (is_part && (c == '{' || c == '['))
			return SHAPE_DOCUMENT;
		if (measure_value(s, at, &size, &members, why) <= 0 || !size)
			return SHAPE_DOCUMENT;
		at += size;
	}
}

/* Takes the comma between members or elements. Returns 1 after taking `close`, 0 if another one
 * follows, or -1. */
static int take_separator(struct split *s, int close, const char **why)
{
	int c = peek_char(s, why);

	if (c < 0)
		return -1;
	if (c == close) {
		s->from++;
		s->first = false;	/* of the container */
		return 1;
	}
	if (s->first)
		return 0;
	if (c != ',') {
		*why = c ? "expected a comma" : "unexpected end of the JSON";
		return -1;
	}
	s->from++;
	return 0;
}

/* Returns 2 if only the position has changed. */
static int next_member(struct split *s, struct split_part *out, const char **why)
{
	int c = take_separator(s, '}', why);

	if (c) {
		s->place = OUTSIDE;
		return c < 0 ? -1 : 2;
	}
	if (take_key(s, why))
		return -1;
	s->index = 0;
	c = peek_char(s, why);
	if (c < 0)
		return -1;
	if (c == '[' && (strcmp(s->key, "records") == 0 || strcmp(s->key, "attrs") == 0)) {
		s->from++;
		s->place = ELEMENTS;
		s->first = true;
		return 2;
	}
	return take_value(s, out, why);
}

static int next_element(struct split *s, struct split_part *out, const char **why)
{
	int c = take_separator(s, ']', why);

	if (c) {
		s->place = MEMBERS;
		return c < 0 ? -1 : 2;
	}
	c = peek_char(s, why);
	if (c < 0)
		return -1;
	c = take_value(s, out, why);
	s->index++;
	return c;
}

/* Returns whether perf.data begins at `from`, in either byte order. */
static bool is_recording(const struct split *s)
{
	const char *text = s->text + s->from;

	return s->size - s->from >= 8 &&
	       (memcmp(text, "PERFILE2", 8) == 0 || memcmp(text, "2ELIFREP", 8) == 0);
}

static bool starts_with(const struct split *s, const char *bytes)
{
	const size_t size = strlen(bytes);

	return s->size - s->from >= size && memcmp(s->text + s->from, bytes, size) == 0;
}

/* Returns the reason why the input at `from` is no object. */
static const char *why_no_object(const struct split *s)
{
	if (is_recording(s))
		return "this is perf.data already, not JSON";
	if (starts_with(s, "\xef\xbb\xbf"))
		return "there is a byte order mark before the JSON: save it as UTF-8 without BOM";
	if (starts_with(s, "\xff\xfe") || starts_with(s, "\xfe\xff"))
		return "this is UTF-16 (as of PowerShell): save the JSON as UTF-8 without BOM";
	return "expected an object";
}

/* Returns 2 at the start of a document. */
static int next_object(struct split *s, struct split_part *out, const char **why)
{
	int c = peek_char(s, why);

	if (c <= 0)
		return c;
	if (c != '{') {
		*why = why_no_object(s);
		return -1;
	}
	switch (detect_shape(s, why)) {
	case SHAPE_LINE:
		s->key[0] = '\0';
		return take_value(s, out, why);
	case SHAPE_OTHER:
		*why = "the object has neither `kind` nor file, attrs, features or records";
		return -1;
	default:
		s->from++;
		s->place = MEMBERS;
		s->first = true;
		return 2;
	}
}

int split_next(struct split *s, struct split_part *out, const char **why)
{
	for (;;) {
		int ret;

		switch (s->place) {
		case OUTSIDE:
			ret = next_object(s, out, why);
			break;
		case MEMBERS:
			ret = next_member(s, out, why);
			break;
		default:
			ret = next_element(s, out, why);
			break;
		}
		if (ret != 2)
			return ret;
	}
}
