/* spill.c - blocks of bytes in an unlinked temporary file, when memory runs short. */
#include "store/spill.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/tempfile.h"

enum { WINDOW = 1 << 16 };

struct block {
	uint64_t offset, size;
	uint32_t next;		/* block + 1, 0: none */
};

struct pp_spill {
	struct pp_memory memory;
	struct pd_tempfile file;
	bool is_open;
	struct pd_error error;
	struct block *blocks;
	size_t nr, capacity;
	uint64_t window_offset, window_size;	/* the part of the file that is in `window` */
	uint8_t window[WINDOW];
};

struct pp_spill *pp_spill_new(uint64_t limit)
{
	struct pp_spill *s = calloc(1, sizeof(*s));

	if (s)
		s->memory.limit = limit;
	return s;
}

static int open_file(struct pp_spill *s)
{
	if (!s->is_open)
		s->is_open = pd_tempfile_open(&s->file, UINT64_MAX, &s->error) == 0;
	return s->is_open ? 0 : -1;
}

int pp_spill_add(struct pp_spill *s, struct pp_block_list *list, const uint8_t *bytes,
		 uint64_t size)
{
	struct block *blocks = pp_memory_grow(&s->memory, s->blocks, &s->capacity, s->nr + 1,
					      sizeof(*blocks));

	if (!blocks)
		return -1;
	s->blocks = blocks;
	if (s->nr >= PP_NONE - 1 || open_file(s))
		return -1;
	blocks[s->nr] = (struct block){ s->file.size, size, 0 };
	if (pd_tempfile_append(&s->file, bytes, size, &s->error))
		return -1;
	s->nr++;
	if (list->last)
		blocks[list->last - 1].next = (uint32_t)s->nr;
	else
		list->first = (uint32_t)s->nr;
	list->last = (uint32_t)s->nr;
	return 0;
}

/* Reads the file from an offset on, unless that many bytes are in the window. */
static int fill_window(struct pp_spill *s, uint64_t offset, uint64_t size)
{
	if (offset >= s->window_offset && offset + size <= s->window_offset + s->window_size)
		return 0;
	s->window_offset = offset;
	s->window_size = size < WINDOW ? size : WINDOW;
	if (pd_tempfile_read(&s->file, offset, s->window, s->window_size, &s->error) == 0)
		return 0;
	s->window_size = 0;
	return -1;
}

size_t pp_spill_read(struct pp_spill *s, struct pp_spill_place *place, size_t again,
		     const uint8_t **bytes)
{
	uint64_t size;

	place->offset -= again;
	place->left += again;
	if (!place->left && place->next) {
		const struct block *b = &s->blocks[place->next - 1];

		*place = (struct pp_spill_place){ b->next, b->offset, b->size };
	}
	if (!place->left || fill_window(s, place->offset, place->left))
		return 0;
	size = s->window_offset + s->window_size - place->offset;
	if (size > place->left)
		size = place->left;
	*bytes = s->window + (place->offset - s->window_offset);
	place->offset += size;
	place->left -= size;
	return size;
}

const struct pd_error *pp_spill_error(const struct pp_spill *s)
{
	return &s->error;
}

void pp_spill_forget_error(struct pp_spill *s)
{
	s->error = (struct pd_error){ .code = PD_OK };
}

void pp_spill_free(struct pp_spill *s)
{
	if (!s)
		return;
	if (s->is_open)
		pd_tempfile_close(&s->file);
	pp_memory_free(&s->memory, s->blocks, s->capacity, sizeof(*s->blocks));
	free(s);
}
