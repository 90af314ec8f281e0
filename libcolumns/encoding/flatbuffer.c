/* flatbuffer.c - flatbuffers, as far as the metadata of Arrow needs them. */
#include "encoding/flatbuffer.h"

#include <string.h>

static void put_zeros(struct pd_buf *b, size_t n)
{
	uint8_t *p = pd_buf_reserve(b, n);

	if (!p || !n)
		return;
	memset(p, 0, n);
	b->size += n;
}

void pc_fb_align(struct pd_buf *b, size_t to)
{
	put_zeros(b, (to - b->size % to) % to);
}

static void store_at(struct pd_buf *b, size_t at, uint64_t value, size_t width)
{
	if (!b->failed)
		pc_store_little(b->data + at, value, width);
}

void pc_fb_begin(struct pd_buf *b)
{
	b->size = 0;
	pc_put_little(b, 0, 4);
}

void pc_fb_point(struct pd_buf *b, size_t reference, size_t target)
{
	store_at(b, reference, target - reference, 4);
}

size_t pc_fb_table(struct pd_buf *b, const struct pc_fb_field *fields, size_t n, size_t *places)
{
	uint16_t offsets[PC_FB_FIELDS] = { 0 };
	size_t slots = 0, size = 4, table;
	const bool is_root = b->size == 4;

	for (size_t i = 0; i < n; i++) {
		const size_t width = fields[i].width ? fields[i].width : 4;

		slots = fields[i].id + 1 > slots ? fields[i].id + 1 : slots;
		size = (size + width - 1) / width * width;
		offsets[fields[i].id] = (uint16_t)size;
		size += width;
	}
	/* The table is aligned to 8 bytes, and its vtable ends where it starts. */
	put_zeros(b, (8 - (b->size + 4 + 2 * slots) % 8) % 8);
	pc_put_little(b, 4 + 2 * slots, 2);
	pc_put_little(b, size, 2);
	for (size_t i = 0; i < slots; i++)
		pc_put_little(b, offsets[i], 2);
	table = b->size;
	pc_put_little(b, 4 + 2 * slots, 4);
	put_zeros(b, size - 4);
	for (size_t i = 0; i < n; i++) {
		places[i] = table + offsets[fields[i].id];
		store_at(b, places[i], fields[i].value, fields[i].width);
	}
	if (is_root)
		pc_fb_point(b, 0, table);
	return table;
}

size_t pc_fb_string(struct pd_buf *b, const char *text)
{
	const size_t n = strlen(text);
	size_t at;

	pc_fb_align(b, 4);
	at = b->size;
	pc_put_little(b, n, 4);
	pd_buf_append(b, text, n + 1);
	return at;
}

size_t pc_fb_vector(struct pd_buf *b, size_t n, size_t width)
{
	size_t at;

	pc_fb_align(b, 4);
	if (width >= 8 && b->size % 8 != 4)
		put_zeros(b, 4);
	at = b->size;
	pc_put_little(b, n, 4);
	put_zeros(b, n * width);
	return at;
}
