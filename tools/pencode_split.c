/* pencode_split.c - cuts JSON text into parts: only brackets and strings matter here, the parser checks the rest. */
#include "pencode_split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define KEY_SIZE 64
#define NOTHING_OF_JSON 256	/* in place of a NUL: 0 is the end */
#define LONG_NUMBER 20		/* digits and sign: the most that 64 bits need */

enum place {
	OUTSIDE,	/* before a document or a line */
	MEMBERS,	/* in the document, before a key */
	ELEMENTS,	/* in an array that is taken apart */
};

struct split {
	int fd;
	char *text;		/* from `from` on not yet taken */
	size_t from, size, capacity, largest;
	uint64_t line, index;
	enum place place;
	bool ended, first;	/* first: no comma yet */
	bool long_number;	/* in the value scanned last */
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

/* More text behind what is there. 1, 0 at the end, -1. */
static int more(struct split *s, const char **why)
{
	ssize_t got;

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
		got = read(s->fd, s->text + s->size, CHUNK);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		*why = strerror(errno);
		return -1;
	}
	s->ended = got == 0;
	s->size += (size_t)got;
	return got > 0;
}

/* The next character that is no white space; 0 at the end, -1. */
static int look(struct split *s, const char **why)
{
	for (;;) {
		while (s->from < s->size) {
			char c = s->text[s->from];

			if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
				return c ? (unsigned char)c : NOTHING_OF_JSON;
			s->line += c == '\n';
			s->from++;
		}
		switch (more(s, why)) {
		case 0:
			return 0;
		case -1:
			return -1;
		}
	}
}

/* Bytes of the value that begins `start` behind `from`: up to what closes it. 0: the input ends in it; -1. *members:
 * keys in it, in whatever depth. */
static int value_size(struct split *s, size_t start, size_t *size, size_t *members, const char **why)
{
	bool in_string = false, escaped = false, scalar = false;
	size_t depth = 0, at = start, digits = 0;

	*members = 0;
	s->long_number = false;
	for (;; at++) {
		char c;

		if (s->from + at >= s->size) {
			int got = more(s, why);

			if (got <= 0) {
				*size = at - start;
				return got < 0 ? -1 : scalar && !in_string && !depth;
			}
		}
		c = s->text[s->from + at];
		if (in_string) {
			if (escaped) {
				escaped = false;
			} else if (c == '\\') {
				escaped = true;
			} else if (c == '"') {
				in_string = false;
				if (!depth && !scalar)
					break;
			} else {	/* on to what may end it */
				while (s->from + at + 1 < s->size && (c = s->text[s->from + at + 1]) != '"' && c != '\\')
					at++;
			}
			continue;
		}
		digits = c >= '0' && c <= '9' ? digits + 1 : c == '-';
		s->long_number |= digits >= LONG_NUMBER;
		if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (!depth) {	/* closes what is around a scalar */
				*size = at - start;
				return 1;
			}
			if (!--depth)
				break;
		} else if (c == ':') {
			++*members;
		} else if (!depth) {
			if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
				*size = at - start;
				return 1;
			}
			scalar = true;
		}
	}
	*size = at + 1 - start;
	return 1;
}

/* Hands out the value at `from`. */
static int take(struct split *s, struct split_part *out, const char **why)
{
	size_t size = 0, members;
	int got = value_size(s, 0, &size, &members, why);

	if (got <= 0 || !size) {
		if (got >= 0)
			*why = got ? "a value was expected" : "the JSON ends too early";
		return -1;
	}
	*out = (struct split_part){ .key = s->key, .text = s->text + s->from, .size = size, .members = members,
				    .line = s->line, .index = s->index, .has_long_number = s->long_number,
				    .is_element = s->place == ELEMENTS };
	for (const char *at = out->text, *end = at + size; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		s->line++;
	s->from += size;
	s->first = false;
	return 1;
}

static int expect(struct split *s, int c, const char *otherwise, const char **why)
{
	int got = look(s, why);

	if (got < 0)
		return -1;
	if (got != c) {
		*why = otherwise;
		return -1;
	}
	s->from++;
	return 0;
}

/* A key of the document, and its colon. */
static int take_key(struct split *s, const char **why)
{
	struct split_part key;

	if (look(s, why) != '"') {
		*why = "a key was expected";
		return -1;
	}
	if (take(s, &key, why) < 0)
		return -1;
	memset(s->key, 0, sizeof(s->key));
	if (key.size - 2 < sizeof(s->key))
		memcpy(s->key, key.text + 1, key.size - 2);
	if (!s->key[0])
		s->key[0] = '?';	/* "" is for lines */
	return expect(s, ':', "a colon was expected behind the key", why);
}

/* Skips white space from *at behind `from`. The character there; 0 at the end, -1. */
static int look_from(struct split *s, size_t *at, const char **why)
{
	for (;; ++*at) {
		if (s->from + *at >= s->size) {
			int got = more(s, why);

			if (got <= 0)
				return got;
		}
		if (!s->text[s->from + *at])
			return NOTHING_OF_JSON;
		if (!strchr(" \t\n\r", s->text[s->from + *at]))
			return (unsigned char)s->text[s->from + *at];
	}
}

static bool key_is(const struct split *s, size_t at, size_t size, const char *key)
{
	return size == strlen(key) + 2 && memcmp(s->text + s->from + at + 1, key, size - 2) == 0;
}

enum shape {
	A_LINE,
	A_DOCUMENT,	/* also where the JSON is wrong: that is said when it is taken apart */
	NEITHER,
};

/* A line has a "kind"; a document has, with an array or object behind it, a key that is encoded (a record's `file`
 * is text, a summary's `records` a number). Keys come in any order. */
static enum shape shape_of(struct split *s, const char **why)
{
	size_t at = 1, size, members;

	for (;;) {
		int c = look_from(s, &at, why);
		bool is_part;

		if (c == ',') {
			at++;
			continue;
		}
		if (c == '}')
			return NEITHER;
		if (c != '"' || value_size(s, at, &size, &members, why) <= 0)
			return A_DOCUMENT;
		if (key_is(s, at, size, "kind"))
			return A_LINE;
		is_part = key_is(s, at, size, "records") || key_is(s, at, size, "attrs") ||
			  key_is(s, at, size, "features") || key_is(s, at, size, "file");
		at += size;
		if (look_from(s, &at, why) != ':')
			return A_DOCUMENT;
		at++;
		c = look_from(s, &at, why);
		if (is_part && (c == '{' || c == '['))
			return A_DOCUMENT;
		if (value_size(s, at, &size, &members, why) <= 0 || !size)
			return A_DOCUMENT;
		at += size;
	}
}

/* Between members and elements stands a comma, but before the first. `close` ends them: 1; 0: another one follows; -1. */
static int separator(struct split *s, int close, const char **why)
{
	int c = look(s, why);

	if (c < 0)
		return -1;
	if (c == close) {
		s->from++;
		s->first = false;	/* of what is around it */
		return 1;
	}
	if (s->first)
		return 0;
	if (c != ',') {
		*why = c ? "a comma was expected" : "the JSON ends too early";
		return -1;
	}
	s->from++;
	return 0;
}

/* 2: nothing to hand out, but the place has changed. */
static int next_member(struct split *s, struct split_part *out, const char **why)
{
	int c = separator(s, '}', why);

	if (c) {
		s->place = OUTSIDE;
		return c < 0 ? -1 : 2;
	}
	if (take_key(s, why))
		return -1;
	s->index = 0;
	c = look(s, why);
	if (c < 0)
		return -1;
	if (c == '[' && (strcmp(s->key, "records") == 0 || strcmp(s->key, "attrs") == 0)) {
		s->from++;
		s->place = ELEMENTS;
		s->first = true;
		return 2;
	}
	return take(s, out, why);
}

static int next_element(struct split *s, struct split_part *out, const char **why)
{
	int c = separator(s, ']', why);

	if (c) {
		s->place = MEMBERS;
		return c < 0 ? -1 : 2;
	}
	c = look(s, why);
	if (c < 0)
		return -1;
	c = take(s, out, why);
	s->index++;
	return c;
}

/* 2: it is a document, to be taken apart. */
static int next_object(struct split *s, struct split_part *out, const char **why)
{
	int c = look(s, why);

	if (c <= 0)
		return c;
	if (c != '{') {
		*why = "an object was expected";
		return -1;
	}
	switch (shape_of(s, why)) {
	case A_LINE:
		s->key[0] = '\0';
		return take(s, out, why);
	case NEITHER:
		*why = "an object without `kind` is no line, and with no file, attrs, features or records no document";
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
		int got;

		switch (s->place) {
		case OUTSIDE:
			got = next_object(s, out, why);
			break;
		case MEMBERS:
			got = next_member(s, out, why);
			break;
		default:
			got = next_element(s, out, why);
			break;
		}
		if (got != 2)
			return got;
	}
}
