/* text_line.c - lines, words and numbers of a text. */
#include "image/text_line.h"

#include <string.h>

static struct pd_bytes take_bytes(struct pd_bytes *b, size_t n, size_t gap)
{
	const struct pd_bytes head = { b->data, n };

	b->data += n + gap;
	b->size -= n + gap;
	return head;
}

bool ps_take_line(struct pd_bytes *text, struct pd_bytes *line)
{
	const uint8_t *end;

	if (!text->size)
		return false;
	end = memchr(text->data, '\n', text->size);
	*line = take_bytes(text, end ? (size_t)(end - text->data) : text->size, end != NULL);
	return true;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

struct pd_bytes ps_take_word(struct pd_bytes *line)
{
	const uint8_t *at = line->data, *end = at + line->size, *word;

	while (at < end && is_blank(*at))
		at++;
	/* most characters are above both blanks */
	for (word = at; at < end && (*at > ' ' || !is_blank(*at));)
		at++;
	*line = (struct pd_bytes){ at, (size_t)(end - at) };
	return (struct pd_bytes){ word, (size_t)(at - word) };
}

/* The value of a digit + 1; 0: no digit. */
static const uint8_t digits[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15,
	['f'] = 16, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool ps_take_hex(struct pd_bytes *line, uint64_t *out)
{
	const uint8_t *at = line->data, *end = at + line->size, *first;
	uint64_t value = 0;

	while (at < end && is_blank(*at))
		at++;
	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (first = at; at < end && digits[*at]; at++)
		value = value << 4 | (digits[*at] - 1u);
	if (at == first || at - first > 16 || (at < end && !is_blank(*at)))
		return false;
	*line = (struct pd_bytes){ at, (size_t)(end - at) };
	*out = value;
	return true;
}
