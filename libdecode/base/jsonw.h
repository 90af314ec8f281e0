/* jsonw.h - writes JSON as a stream: no tree, large writes, valid whatever the bytes are.
 *
 * Keys come rendered, as `,"name":`; the comma is left out behind `{`. Commas between array elements likewise.
 */
#ifndef PD_BASE_JSONW_H
#define PD_BASE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pd/bytes.h"
#include "pd/output.h"

#define PD_JSONW_BUFFER (256 * 1024)
#define PD_JSONW_SLACK 1024	/* what pd_jsonw_room() promises at most */

struct pd_jsonw {
	char *at, *end;		/* end: leaves PD_JSONW_SLACK behind it */
	char *buffer;		/* PD_JSONW_BUFFER bytes; buffer[-1] exists */
	struct pd_output out;
	int failed;		/* what out.write returned when not 0: sticky, later output is dropped */
	uint64_t flushed;	/* bytes handed to out */
};

/* buffer: PD_JSONW_BUFFER + 1 bytes, borrowed. */
void pd_jsonw_init(struct pd_jsonw *w, char *buffer, struct pd_output out);
/* Hands all that is buffered to out. 0, or what out.write returned. */
int pd_jsonw_flush(struct pd_jsonw *w);

/* Makes sure of PD_JSONW_SLACK bytes at w->at. */
static inline void pd_jsonw_room(struct pd_jsonw *w)
{
	if (__builtin_expect(w->at > w->end, 0))
		pd_jsonw_flush(w);
}

/* n <= PD_JSONW_SLACK bytes as they are. */
static inline void pd_jsonw_raw(struct pd_jsonw *w, const char *p, size_t n)
{
	pd_jsonw_room(w);
	memcpy(w->at, p, n);
	w->at += n;
}

static inline void pd_jsonw_char(struct pd_jsonw *w, char c)
{
	pd_jsonw_room(w);
	*w->at++ = c;
}

/* A rendered key. */
static inline void pd_jsonw_key(struct pd_jsonw *w, const char *key, size_t n)
{
	pd_jsonw_room(w);
	if (w->at[-1] == '{') {
		key++;
		n--;
	}
	memcpy(w->at, key, n);
	w->at += n;
}
#define PD_JSONW_KEY(w, name) pd_jsonw_key(w, ",\"" name "\":", sizeof(",\"" name "\":") - 1)

/* Before each element of an array, each key of an object: none behind the opening bracket. */
static inline void pd_jsonw_comma(struct pd_jsonw *w)
{
	pd_jsonw_room(w);
	if (w->at[-1] != '[' && w->at[-1] != '{')
		*w->at++ = ',';
}

extern const char pd_digit_pairs[200];

/* v in decimal at p; the end. At most 20 bytes. */
static inline char *pd_write_decimal(char *p, uint64_t v)
{
	char digits[20];
	unsigned int at = sizeof(digits);

	while (v >= 100) {
		uint64_t q = v / 100;

		at -= 2;
		memcpy(digits + at, pd_digit_pairs + 2 * (v - q * 100), 2);
		v = q;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(digits + at, pd_digit_pairs + 2 * v, 2);
	} else {
		digits[--at] = (char)('0' + v);
	}
	memcpy(p, digits + at, sizeof(digits) - at);
	return p + (sizeof(digits) - at);
}

/* "0x..." with its quotes at p; the end. At most 20 bytes. */
static inline char *pd_write_address(char *p, uint64_t v)
{
	static const char hex[] = "0123456789abcdef";
	unsigned int nibbles = v ? (67 - (unsigned int)__builtin_clzll(v)) / 4 : 1;

	memcpy(p, "\"0x", 3);
	p += 3;
	for (unsigned int i = nibbles; i-- > 0;)
		*p++ = hex[v >> (4 * i) & 15];
	*p++ = '"';
	return p;
}

static inline void pd_jsonw_unsigned(struct pd_jsonw *w, uint64_t v)
{
	pd_jsonw_room(w);
	w->at = pd_write_decimal(w->at, v);
}

static inline void pd_jsonw_signed(struct pd_jsonw *w, int64_t v)
{
	pd_jsonw_room(w);
	if (v < 0)
		*w->at++ = '-';
	w->at = pd_write_decimal(w->at, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static inline void pd_jsonw_address(struct pd_jsonw *w, uint64_t v)
{
	pd_jsonw_room(w);
	w->at = pd_write_address(w->at, v);
}

/* An IEEE double so that it reads back exactly; null when it is no number. */
void pd_jsonw_double(struct pd_jsonw *w, double v);

enum pd_utf8 { PD_UTF8, PD_NOT_UTF8 };

/* A string. What is not UTF-8 becomes U+FFFD, and PD_NOT_UTF8 says so. */
enum pd_utf8 pd_jsonw_text(struct pd_jsonw *w, struct pd_bytes text);
/* Just its inside, without quotes. */
enum pd_utf8 pd_jsonw_text_inside(struct pd_jsonw *w, struct pd_bytes text);

/* "hex" of any size, and without its quotes so that it can come in pieces. */
void pd_jsonw_hex(struct pd_jsonw *w, struct pd_bytes bytes);
void pd_jsonw_hex_inside(struct pd_jsonw *w, struct pd_bytes bytes);

static inline void pd_jsonw_string(struct pd_jsonw *w, const char *text)
{
	pd_jsonw_text(w, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

#endif
