/* jsonw.h - writes JSON as a stream: without a tree, in large writes, valid for any bytes.
 *
 * Keys are rendered, as `,"name":`; the comma is omitted after `{`. Commas between array elements
 * likewise.
 */
#ifndef PD_BASE_JSONW_H
#define PD_BASE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "pd/bytes.h"
#include "pd/output.h"

#define PD_JSONW_BUFFER (256 * 1024)
#define PD_JSONW_SLACK 4096	/* room that pd_jsonw_room() guarantees */

struct pd_jsonw {
	char *at, *end;		/* end: PD_JSONW_SLACK bytes follow it */
	char *buffer;		/* PD_JSONW_BUFFER bytes; buffer[-1] exists */
	struct pd_output out;
	int failed;		/* error of out.write: sticky, later output is dropped */
};

/* Starts writing to `out`. `buffer` has PD_JSONW_BUFFER + 1 bytes and is borrowed. */
void pd_jsonw_init(struct pd_jsonw *w, char *buffer, struct pd_output out);
/* Writes all that is buffered to out. Returns 0, or what out.write returned. */
int pd_jsonw_flush(struct pd_jsonw *w);

/* Ensures PD_JSONW_SLACK bytes at w->at. */
static inline void pd_jsonw_room(struct pd_jsonw *w)
{
	if (__builtin_expect(w->at > w->end, 0))
		pd_jsonw_flush(w);
}

/* Writes n <= PD_JSONW_SLACK bytes as they are. */
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

/* Writes a rendered key. */
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
/* The same for a key of which PD_JSONW_KEY_ROOM bytes are readable, whatever its size. */
#define PD_JSONW_KEY_ROOM 32
static inline void pd_jsonw_padded_key(struct pd_jsonw *w, const char *key, size_t n)
{
	const size_t first = (pd_jsonw_room(w), w->at[-1] == '{');

	n -= first;
	if (__builtin_expect(n <= PD_JSONW_KEY_ROOM, 1))
		memcpy(w->at, key + first, PD_JSONW_KEY_ROOM);
	else
		memcpy(w->at, key + first, n);
	w->at += n;
}
#define PD_JSONW_KEY(w, name) pd_jsonw_key(w, ",\"" name "\":", sizeof(",\"" name "\":") - 1)

/* Must be called before each element of an array and each key of an object. Writes no comma after
 * the opening bracket. */
static inline void pd_jsonw_comma(struct pd_jsonw *w)
{
	pd_jsonw_room(w);
	if (w->at[-1] != '[' && w->at[-1] != '{')
		*w->at++ = ',';
}

/* "0000" to "9999". */
extern const char pd_digit_fours[40001];

/* Returns v < 10^4 as 4 digits. */
static inline uint32_t pd_four_digits(uint32_t v)
{
	uint32_t text;

	memcpy(&text, pd_digit_fours + 4 * v, sizeof(text));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? text : __builtin_bswap32(text);
}

static inline void pd_store_four(char *p, uint32_t digits)
{
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		digits = __builtin_bswap32(digits);
	memcpy(p, &digits, sizeof(digits));
}

/* Writes v < 10^8 as 8 digits at p. */
static inline void pd_write_eight_digits(char *p, uint32_t v)
{
	const uint32_t high = v / 10000;

	pd_store_four(p, pd_four_digits(high));
	pd_store_four(p + 4, pd_four_digits(v - high * 10000));
}

/* Writes v < 10^4 in decimal at p, where 4 bytes are overwritten. Returns the end. */
static inline char *pd_write_decimal4(char *p, uint32_t v)
{
	const uint32_t digits = pd_four_digits(v);

	if (__builtin_expect(v >= 1000, 1)) {
		pd_store_four(p, digits);
		return p + 4;
	}
	pd_store_four(p, digits >> (v >= 100 ? 8 : v >= 10 ? 16 : 24));
	return p + (v >= 100 ? 3 : v >= 10 ? 2 : 1);
}

/* Writes v < 10^8 in decimal at p, where up to 8 bytes are overwritten. Returns the end. */
static inline char *pd_write_decimal8(char *p, uint32_t v)
{
	const uint32_t high = v / 10000;

	if (v < 10000)
		return pd_write_decimal4(p, v);
	p = pd_write_decimal4(p, high);
	pd_store_four(p, pd_four_digits(v - high * 10000));
	return p + 4;
}

/* Writes v < 10^16 in decimal at p. Returns the end. */
static inline char *pd_write_decimal16(char *p, uint64_t v)
{
	uint64_t high;

	if (v < 100000000)
		return pd_write_decimal8(p, (uint32_t)v);
	high = v / 100000000;
	p = pd_write_decimal8(p, (uint32_t)high);
	pd_write_eight_digits(p, (uint32_t)(v - high * 100000000));
	return p + 8;
}

/* Writes v in decimal at p, at most 20 bytes. Returns the end. */
static inline char *pd_write_decimal(char *p, uint64_t v)
{
	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (__builtin_expect(v >= 10000000000000000, 0)) {
		p = pd_write_decimal16(p, v / 10000000000000000);
		v %= 10000000000000000;
		pd_write_eight_digits(p, (uint32_t)(v / 100000000));
		pd_write_eight_digits(p + 8, (uint32_t)(v % 100000000));
		return p + 16;
	}
	return pd_write_decimal16(p, v);
}

typedef int8_t pd_bytes16 __attribute__((vector_size(16)));
typedef uint64_t pd_words16 __attribute__((vector_size(16)));

/* gcc has clang's builtin since version 12. */
#if __has_builtin(__builtin_shufflevector)
#define PD_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PD_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){ __VA_ARGS__ })
#endif

#define PD_NIBBLES 0x0f0f0f0f0f0f0f0full

/* Converts 16 numbers below 16 to hex digits. */
static inline pd_bytes16 pd_hex_text(pd_bytes16 nibbles)
{
	return nibbles + '0' + ((nibbles > 9) & ('a' - '0' - 10));
}

/* Return the high and the low nibbles of 16 bytes, one per byte. */
static inline pd_bytes16 pd_high_nibbles(pd_words16 bytes)
{
	return (pd_bytes16)(bytes >> 4 & PD_NIBBLES);
}

static inline pd_bytes16 pd_low_nibbles(pd_words16 bytes)
{
	return (pd_bytes16)(bytes & PD_NIBBLES);
}

/* Returns v with its highest byte first in memory. */
static inline uint64_t pd_high_first(uint64_t v)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* Writes "0x..." with its quotes at p, at most 20 bytes. Returns the end. */
static inline char *pd_write_address(char *p, uint64_t v)
{
	const unsigned int leading = (unsigned int)__builtin_clzll(v | 1) & ~3u;	/* bits */
	pd_words16 word = { 0, 0 };
	pd_bytes16 text;

	v <<= leading;
	word[0] = pd_high_first(v);
	text = PD_SHUFFLE(pd_high_nibbles(word), pd_low_nibbles(word), 0, 16, 1, 17, 2, 18, 3, 19,
			  4, 20, 5, 21, 6, 22, 7, 23);
	text = pd_hex_text(text);
	memcpy(p, "\"0x", 4);
	memcpy(p + 3, &text, sizeof(text));
	p += 3 + 16 - leading / 4;
	*p = '"';
	return p + 1;
}

/* Writes n numbers of 8 bytes as 16 digits each, and overwrites up to 16 bytes after them: see
 * pd_write_address_rest(). */
void pd_write_hex_words(char *at, const uint8_t *words, size_t n, enum pd_swap swap);

/* Writes the rest of an address v after its "0x, from its 16 digits. Returns the end. Overwrites as
 * much as pd_write_address() does. */
static inline char *pd_write_address_rest(char *p, uint64_t v, const char *digits)
{
	const unsigned int leading = (unsigned int)__builtin_clzll(v | 1) >> 2;
	pd_bytes16 text;

	memcpy(&text, digits + leading, sizeof(text));
	memcpy(p, &text, sizeof(text));
	p += 16 - leading;
	*p = '"';
	return p + 1;
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

/* Writes a double so that it reads back exactly; null if it is not a number. */
void pd_jsonw_double(struct pd_jsonw *w, double v);

enum pd_utf8 { PD_UTF8, PD_NOT_UTF8 };

/* Writes a string. Invalid UTF-8 becomes U+FFFD, and PD_NOT_UTF8 is returned. */
enum pd_utf8 pd_jsonw_text(struct pd_jsonw *w, struct pd_bytes text);

/* Writes bytes as "hex", of any size; the second function without quotes, so that it can be called
 * for pieces. */
void pd_jsonw_hex(struct pd_jsonw *w, struct pd_bytes bytes);
void pd_jsonw_hex_inside(struct pd_jsonw *w, struct pd_bytes bytes);

static inline void pd_jsonw_string(struct pd_jsonw *w, const char *text)
{
	pd_jsonw_text(w, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

/* Write a member of an object; use the macros, whose `name` is a literal. */
void pd_jsonw_number_member(struct pd_jsonw *w, const char *key, uint64_t v);
void pd_jsonw_string_member(struct pd_jsonw *w, const char *key, const char *text);
#define PD_JSONW_NUMBER(w, name, v) pd_jsonw_number_member(w, ",\"" name "\":", v)
#define PD_JSONW_STRING(w, name, text) pd_jsonw_string_member(w, ",\"" name "\":", text)

#endif
