/* pieces.c - takes a tracepoint's format text apart. */
#include "tracepoint/pieces.h"

#include <string.h>

bool pd_piece_is_blank(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool pd_piece_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

bool pd_piece_is_word(uint8_t c)
{
	return pd_piece_is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

struct pd_bytes pd_piece_after(struct pd_bytes b, size_t n)
{
	return (struct pd_bytes){ b.data + n, b.size - n };
}

struct pd_bytes pd_piece_before(struct pd_bytes b, size_t n)
{
	return (struct pd_bytes){ b.data, n };
}

struct pd_bytes pd_piece_trim(struct pd_bytes b)
{
	while (b.size && pd_piece_is_blank(b.data[0]))
		b = pd_piece_after(b, 1);
	while (b.size && pd_piece_is_blank(b.data[b.size - 1]))
		b.size--;
	return b;
}

bool pd_piece_equals(struct pd_bytes b, const char *word)
{
	return strlen(word) == b.size && !memcmp(b.data, word, b.size);
}

bool pd_piece_strip(struct pd_bytes *b, const char *prefix)
{
	size_t n = strlen(prefix);

	if (b->size < n || memcmp(b->data, prefix, n) != 0)
		return false;
	*b = pd_piece_trim(pd_piece_after(*b, n));
	return true;
}

bool pd_piece_split(struct pd_bytes *rest, uint8_t mark, struct pd_bytes *piece)
{
	const uint8_t *at = rest->size ? memchr(rest->data, mark, rest->size) : NULL;

	if (!at)
		return false;
	*piece = pd_piece_before(*rest, (size_t)(at - rest->data));
	*rest = pd_piece_after(*rest, piece->size + 1);
	return true;
}

bool pd_piece_number(struct pd_bytes b, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	b = pd_piece_trim(b);
	if (!b.size)
		return false;
	for (size_t i = 0; i < b.size; i++) {
		unsigned int digit = b.data[i] - '0';

		if (!pd_piece_is_digit(b.data[i]) || v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}
