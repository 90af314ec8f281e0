/* packing.c - the JSON text of the page's data, as it is made. */
#include "page/packing.h"

#include <stdio.h>
#include <string.h>

static void pack_bytes(struct pp_packing *k, const void *data, size_t size)
{
	uint8_t *bytes = k->failed ? NULL :
		pp_memory_grow(k->memory, k->bytes, &k->capacity, k->size + size, 1);

	if (!bytes) {
		k->failed = true;
		return;
	}
	k->bytes = bytes;
	memcpy(bytes + k->size, data, size);
	k->size += size;
}

void pp_pack_text(struct pp_packing *k, const char *text)
{
	pack_bytes(k, text, strlen(text));
}

/* Returns how many characters from the first on are written as they are: most. */
static size_t count_unescaped(struct pd_bytes text)
{
	size_t n = 0;

	while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7f &&
	       text.data[n] != '"' && text.data[n] != '\\')
		n++;
	return n;
}

void pp_pack_string(struct pp_packing *k, struct pd_bytes text)
{
	pp_pack_text(k, "\"");
	while (text.size) {
		const uint8_t *start = text.data;
		const size_t unescaped = count_unescaped(text);
		char escape[16] = "";
		uint32_t c = ' ';

		if (unescaped)
			text = (struct pd_bytes){ text.data + unescaped, text.size - unescaped };
		else
			c = pp_next_character(&text);
		if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", (char)c);
		else if (c >= 0x110000 || (c < 0x100 && pp_is_control(c)))
			snprintf(escape, sizeof(escape), "\\\\x%02x", c & 0xff);
		else if (pp_is_control(c))
			snprintf(escape, sizeof(escape), "\\\\u%04x", c);
		if (*escape)
			pp_pack_text(k, escape);
		else
			pack_bytes(k, start, (size_t)(text.data - start));
	}
	pp_pack_text(k, "\"");
}

void pp_pack_chars(struct pp_packing *k, const char *text)
{
	pp_pack_string(k, pp_bytes(text));
}

void pp_packing_free(struct pp_packing *k)
{
	pp_memory_free(k->memory, k->bytes, k->capacity, 1);
}
