/* cursor.h - take n bytes or fail. The only code that reads input bytes or knows a byte order.
 *
 * Every other file sees numbers, or spans (struct pd_bytes) that a cursor handed out after its check.
 */
#ifndef PD_BASE_CURSOR_H
#define PD_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pd/bytes.h"

/* Byte order of the file, as seen from this machine. */
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

/* The other way: v's low width bytes to p. */
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
	const uint8_t *at = in.data ? in.data : (const uint8_t *)"";	/* NULL + 0 is not defined */

	return (struct pd_cursor){ at, at + in.size, swap };
}

static inline size_t pd_left(const struct pd_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next n bytes, or NULL (and the cursor stays where it was). */
static inline const uint8_t *pd_take(struct pd_cursor *c, size_t n)
{
	const uint8_t *p = c->at;

	if (n > pd_left(c))
		return NULL;
	c->at += n;
	return p;
}

/* True and the value when width bytes were left; *v is 0 otherwise. */
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

/* For who reads the source without seeing where it is called: where there is a size there are bytes. */
static inline void pd_bytes_are_there(struct pd_bytes b)
{
	if (b.size && !b.data)
		__builtin_unreachable();
}

/* Bytes before the first NUL, at most n. */
static inline size_t pd_text_length(struct pd_bytes b)
{
	const uint8_t *nul;

	pd_bytes_are_there(b);
	nul = b.size ? memchr(b.data, 0, b.size) : NULL;
	return nul ? (size_t)(nul - b.data) : b.size;
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
