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
#define PD_JSONW_SLACK 4096	/* what pd_jsonw_room() promises at most */

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
/* The same where key can be read PD_JSONW_KEY_ROOM bytes far, whatever its size. */
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

/* Before each element of an array, each key of an object: none behind the opening bracket. */
static inline void pd_jsonw_comma(struct pd_jsonw *w)
{
	pd_jsonw_room(w);
	if (w->at[-1] != '[' && w->at[-1] != '{')
		*w->at++ = ',';
}

/* 8 digits, the first in the lowest byte, as text. */
static inline void pd_store_digits(char *p, uint64_t digits)
{
	const uint64_t text = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? digits : __builtin_bswap64(digits);

	memcpy(p, &text, sizeof(text));
}

/* The 8 digits of v < 10^8, as numbers, the first in the lowest byte: halves, pairs, digits, all of a kind at once. */
static inline uint64_t pd_eight_digits(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, tens;

	tens = (x * 10486 >> 20) & 0x0000007f0000007full;	/* by 100 */
	x = tens | (x - tens * 100) << 16;
	tens = (x * 103 >> 10) & 0x000f000f000f000full;		/* by 10 */
	return tens | (x - tens * 10) << 8;
}

#define PD_ZEROS 0x3030303030303030ull

/* v < 10^8 in decimal at p, of which 8 bytes are written; the end. */
static inline char *pd_write_decimal8(char *p, uint32_t v)
{
	uint64_t digits, tens, leading;

	if (v < 10000) {
		tens = v * 10486 >> 20;		/* by 100 */
		digits = tens | (v - tens * 100) << 16;
		tens = (digits * 103 >> 10) & 0x000f000f;	/* by 10 */
		digits = (tens | (digits - tens * 10) << 8) << 32;
	} else {
		digits = pd_eight_digits(v);
	}
	leading = (uint64_t)__builtin_ctzll(digits | 1ull << 56) & ~7ull;	/* bits of zeros in front */
	pd_store_digits(p, (digits | PD_ZEROS) >> leading);
	return p + 8 - leading / 8;
}

/* v < 10^16 in decimal at p; the end. */
static inline char *pd_write_decimal16(char *p, uint64_t v)
{
	uint64_t high;

	if (v < 100000000)
		return pd_write_decimal8(p, (uint32_t)v);
	high = v / 100000000;
	p = pd_write_decimal8(p, (uint32_t)high);
	pd_store_digits(p, pd_eight_digits((uint32_t)(v - high * 100000000)) | PD_ZEROS);
	return p + 8;
}

/* v in decimal at p; the end. At most 20 bytes. */
static inline char *pd_write_decimal(char *p, uint64_t v)
{
	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (__builtin_expect(v >= 10000000000000000, 0)) {
		p = pd_write_decimal16(p, v / 10000000000000000);
		v %= 10000000000000000;
		pd_store_digits(p, pd_eight_digits((uint32_t)(v / 100000000)) | PD_ZEROS);
		pd_store_digits(p + 8, pd_eight_digits((uint32_t)(v % 100000000)) | PD_ZEROS);
		return p + 16;
	}
	return pd_write_decimal16(p, v);
}

typedef int8_t pd_bytes16 __attribute__((vector_size(16)));
typedef uint64_t pd_words16 __attribute__((vector_size(16)));

#define PD_NIBBLES 0x0f0f0f0f0f0f0f0full

/* Numbers below 16 as hex digits, all at once. */
static inline pd_bytes16 pd_hex_text(pd_bytes16 nibbles)
{
	return nibbles + '0' + ((nibbles > 9) & ('a' - '0' - 10));
}

/* The nibbles of 16 bytes, one to a byte: the high ones, the low ones. */
static inline pd_bytes16 pd_high_nibbles(pd_words16 bytes)
{
	return (pd_bytes16)(bytes >> 4 & PD_NIBBLES);
}

static inline pd_bytes16 pd_low_nibbles(pd_words16 bytes)
{
	return (pd_bytes16)(bytes & PD_NIBBLES);
}

/* "0x..." with its quotes at p; the end. At most 20 bytes. */
static inline char *pd_write_address(char *p, uint64_t v)
{
	const unsigned int leading = (unsigned int)__builtin_clzll(v | 1) & ~3u;	/* bits */
	pd_words16 word = { 0, 0 };
	pd_bytes16 text;

	v <<= leading;
	word[0] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
	text = __builtin_shufflevector(pd_high_nibbles(word), pd_low_nibbles(word), 0, 16, 1, 17, 2, 18, 3, 19,
				       4, 20, 5, 21, 6, 22, 7, 23);
	text = pd_hex_text(text);
	memcpy(p, "\"0x", 4);
	memcpy(p + 3, &text, sizeof(text));
	p += 3 + 16 - leading / 4;
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
