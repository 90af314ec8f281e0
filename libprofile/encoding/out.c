/* out.c - what the writers of all formats share: a buffer, and the text of names. */
#include "encoding/out.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

void pp_flush(struct pp_out *out)
{
	if (out->used && !out->error)
		out->error = out->to.write(out->to.ctx, out->buffer, out->used);
	out->flushed += out->used;
	out->used = 0;
}

void pp_put_parts(struct pp_out *out, const char *text, size_t size)
{
	while (size) {
		size_t n = PP_OUT_SIZE - out->used;

		if (n > size)
			n = size;
		memcpy(out->buffer + out->used, text, n);
		out->used += n;
		text += n;
		size -= n;
		if (out->used == PP_OUT_SIZE)
			pp_flush(out);
	}
}

void pp_put_text(struct pp_out *out, const char *text)
{
	pp_put(out, text, strlen(text));
}

void pp_put_number(struct pp_out *out, uint64_t n, size_t width, char pad)
{
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (sizeof(text) - at < width && at)
		text[--at] = pad;
	pp_put(out, text + at, sizeof(text) - at);
}

void pp_printf(struct pp_out *out, const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		pp_put(out, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

uint32_t pp_next_character(struct pd_bytes *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t first = *text->data;
	const size_t size = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 :
			    first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
	uint32_t c = size == 1 ? first : first & (0x7fu >> size);
	bool good = size && size <= text->size;

	for (size_t i = 1; good && i < size; i++) {
		good = (text->data[i] & 0xc0) == 0x80;
		c = c << 6 | (text->data[i] & 0x3f);
	}
	if (!good || c < least[size] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		*text = (struct pd_bytes){ text->data + 1, text->size - 1 };
		return 0x110000 + first;
	}
	*text = (struct pd_bytes){ text->data + size, text->size - size };
	return c;
}

bool pp_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       c >= 0x110000;
}

size_t pp_count_plain(struct pd_bytes text)
{
	size_t n = 0;

	while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7f)
		n++;
	return n;
}

void pp_put_clean(struct pp_out *out, struct pd_bytes text)
{
	while (text.size) {
		const uint8_t *start = text.data;
		const size_t plain = pp_count_plain(text);
		uint32_t c = ' ';

		if (plain)
			text = (struct pd_bytes){ text.data + plain, text.size - plain };
		else
			c = pp_next_character(&text);
		if (pp_is_control(c))
			pp_put_text(out, "?");
		else
			pp_put(out, (const char *)start, (size_t)(text.data - start));
	}
}

size_t pp_put_name(struct pp_out *out, struct pd_bytes name, size_t columns)
{
	size_t used = 0;

	while (name.size) {
		const char *start = (const char *)name.data;
		const uint32_t c = pp_next_character(&name);
		char escape[16] = "";
		size_t width;

		if (c >= 0x110000 || (c < 0x100 && pp_is_control(c)))
			snprintf(escape, sizeof(escape), "\\x%02x", c & 0xff);
		else if (pp_is_control(c))
			snprintf(escape, sizeof(escape), "\\u%04x", c);
		width = *escape ? strlen(escape) : c >= 0x1100 && wcwidth((wchar_t)c) == 2 ? 2 : 1;
		if (columns && used + width + (name.size > 0) > columns) {
			pp_put_text(out, "…");
			return used + 1;
		}
		if (*escape)
			pp_put_text(out, escape);
		else
			pp_put(out, start, (size_t)((const char *)name.data - start));
		used += width;
	}
	return used;
}

size_t pp_copy_without_digits(char *to, size_t room, struct pd_bytes name)
{
	size_t size = 0;

	for (size_t i = 0; i < name.size && size < room; i++) {
		const bool is_digit = name.data[i] >= '0' && name.data[i] <= '9';

		if (!is_digit || !size || to[size - 1] != '*')
			to[size++] = is_digit ? '*' : (char)name.data[i];
	}
	return size;
}

struct pd_bytes pp_name_of(const struct pp_profile *p, const struct pp_merged *n)
{
	return pp_strings_at(&p->strings, p->functions[n->function].name);
}

const char *pp_build_id_of(const struct pp_profile *p, const struct pp_named *f,
			   char text[PP_BUILD_ID_TEXT])
{
	const struct pd_image *image = pd_history_image(p->options.history, f->image_index);
	const size_t size = image && image->build_id.size <= 64 ? image->build_id.size : 0;

	*text = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", image->build_id.data[i]);
	return text;
}
