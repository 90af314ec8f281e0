/* text_line.c - lines, words and numbers of a text. */
#include "image/text_line.h"

#include <string.h>

static struct pd_bytes split(struct pd_bytes *b, size_t n, size_t gap)
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
	*line = split(text, end ? (size_t)(end - text->data) : text->size, end != NULL);
	return true;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

struct pd_bytes ps_take_word(struct pd_bytes *line)
{
	size_t n = 0;

	while (n < line->size && is_blank(line->data[n]))
		n++;
	split(line, n, 0);
	for (n = 0; n < line->size && !is_blank(line->data[n]);)
		n++;
	return split(line, n, 0);
}

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ps_take_hex(struct pd_bytes *line, uint64_t *out)
{
	struct pd_bytes word = ps_take_word(line);

	if (word.size > 2 && word.data[0] == '0' && (word.data[1] | 0x20) == 'x')
		split(&word, 2, 0);
	if (!word.size || word.size > 16)
		return false;
	*out = 0;
	for (size_t i = 0; i < word.size; i++) {
		const int digit = digit_of(word.data[i]);

		if (digit < 0)
			return false;
		*out = *out << 4 | (unsigned int)digit;
	}
	return true;
}
