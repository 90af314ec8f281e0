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

extern const char pd_digit_pairs[201];

extern const uint64_t pd_powers_of_ten[20];

/* Two times 8 digits, the first in the lowest byte, as text. */
static inline void pd_store_digits(uint8_t *p, const uint64_t halves[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t h = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? halves[i] : __builtin_bswap64(halves[i]);

		memcpy(p + 8 * i, &h, sizeof(h));
	}
}

/* Decimal digits of v; 1 for 0. */
static inline unsigned int pd_count_digits(uint64_t v)
{
	const unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	const unsigned int guess = bits * 1233 >> 12;	/* log10(2) is a little under 1233/4096 */

	return guess + 1 - (v < pd_powers_of_ten[guess]);
}

/* v in decimal at p; the end. At most 20 bytes. */
static inline char *pd_write_decimal(char *p, uint64_t v)
{
	char *end = p + pd_count_digits(v | (v == 0)), *at = end;

	while (v >= 100) {
		uint64_t q = v / 100;

		at -= 2;
		memcpy(at, pd_digit_pairs + 2 * (v - q * 100), 2);
		v = q;
	}
	if (v >= 10)
		memcpy(at - 2, pd_digit_pairs + 2 * v, 2);
	else
		at[-1] = (char)('0' + v);
	return end;
}

/* The 8 hex digits of v, the first in the lowest byte. */
static inline uint64_t pd_hex_digits(uint32_t v)
{
	uint64_t x = __builtin_bswap32(v), letters;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = ((x & 0x000f000f000f000full) << 8) | ((x >> 4) & 0x000f000f000f000full);
	letters = ((x + 0x0606060606060606ull) >> 4) & 0x0101010101010101ull;
	return x + 0x3030303030303030ull + letters * ('a' - '0' - 10);
}

/* "0x..." with its quotes at p; the end. Writes at most 24 bytes, of which 20 count. */
static inline char *pd_write_address(char *p, uint64_t v)
{
	const unsigned int nibbles = (67 - (unsigned int)__builtin_clzll(v | 1)) / 4;
	const uint64_t halves[2] = { pd_hex_digits((uint32_t)(v >> 32)), pd_hex_digits((uint32_t)v) };
	uint8_t digits[32] = { 0 };

	pd_store_digits(digits, halves);
	memcpy(p, "\"0x", 3);
	memcpy(p + 3, digits + 16 - nibbles, 16);
	p[3 + nibbles] = '"';
	return p + 4 + nibbles;
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
