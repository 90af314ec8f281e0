/* cursor.h - takes n bytes or fails. The only code that reads input bytes or knows a byte order.
 *
 * All other files get numbers, or spans (struct pd_bytes) that a cursor has checked.
 */
#ifndef PD_BASE_CURSOR_H
#define PD_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pd/bytes.h"

/* Whether the byte order of the file differs from this machine's. */
enum pd_swap { PD_SWAP_NO, PD_SWAP_YES };

static inline uint16_t pd_load16(const uint8_t *p, enum pd_swap swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t pd_load32(const uint8_t *p, enum pd_swap swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t pd_load64(const uint8_t *p, enum pd_swap swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* width is 1, 2, 4 or 8. */
static inline uint64_t pd_load(const uint8_t *p, unsigned int width, enum pd_swap swap)
{
	switch (width) {
	case 1:
		return *p;
	case 2:
		return pd_load16(p, swap);
	case 4:
		return pd_load32(p, swap);
	default:
		return pd_load64(p, swap);
	}
}

/* Stores the low `width` bytes of v at p. */
static inline void pd_store(uint8_t *p, uint64_t v, unsigned int width, enum pd_swap swap)
{
	const bool big = (swap == PD_SWAP_YES) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (unsigned int i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
}

struct pd_cursor {
	const uint8_t *at, *end;
	enum pd_swap swap;
};

static inline struct pd_cursor pd_cursor(struct pd_bytes in, enum pd_swap swap)
{
	const uint8_t *at = in.data ? in.data : (const uint8_t *)"";	/* NULL + 0 is undefined */

	return (struct pd_cursor){ at, at + in.size, swap };
}

static inline size_t pd_left(const struct pd_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Returns the next n bytes and moves past them, or NULL if fewer are left. */
static inline const uint8_t *pd_take(struct pd_cursor *c, size_t n)
{
	const uint8_t *p = c->at;

	if (n > pd_left(c))
		return NULL;
	c->at += n;
	return p;
}

/* Reads the next number. Returns false, and sets *v to 0, if fewer than `width` bytes are left. */
static inline bool pd_take_number(struct pd_cursor *c, unsigned int width, uint64_t *v)
{
	const uint8_t *p = pd_take(c, width);

	*v = p ? pd_load(p, width, c->swap) : 0;
	return p != NULL;
}

static inline bool pd_take_bytes(struct pd_cursor *c, size_t n, struct pd_bytes *out)
{
	const uint8_t *p = pd_take(c, n);

	*out = (struct pd_bytes){ p, p ? n : 0 };
	return p != NULL;
}

/* Tells static analyzers that size > 0 implies data != NULL. */
static inline void pd_bytes_are_there(struct pd_bytes b)
{
	if (b.size && !b.data)
		__builtin_unreachable();
}

/* Returns the number of bytes before the first NUL, at most b.size. */
static inline size_t pd_text_length(struct pd_bytes b)
{
	const uint8_t *nul;

	pd_bytes_are_there(b);
	nul = b.size ? memchr(b.data, 0, b.size) : NULL;
	return nul ? (size_t)(nul - b.data) : b.size;
}

/* Returns the number of zeros at the end. */
static inline size_t pd_zeros_at_end(struct pd_bytes b)
{
	size_t n = 0;

	pd_bytes_are_there(b);
	while (n < b.size && !b.data[b.size - 1 - n])
		n++;
	return n;
}

static inline bool pd_all_zero(struct pd_bytes b)
{
	pd_bytes_are_there(b);
	for (size_t i = 0; i < b.size; i++)
		if (b.data[i])
			return false;
	return true;
}

#endif
