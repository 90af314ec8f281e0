/* script_frames.c - the lines of frames: see script_frames.h. */
#include "formats/script_frames.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonw.h"

enum { ADDRESS_COLUMNS = 16 };

/* The text of a frame while it is made. */
struct text {
	struct pp_memory *memory;
	char *bytes;
	size_t size, capacity;
	size_t start;		/* of the line */
	size_t first;		/* bytes of the first line; 0: it has no end yet */
	bool is_cut;		/* there was no memory */
};

static void add_bytes(struct text *l, const void *bytes, size_t size)
{
	char *grown = l->is_cut ? NULL : pp_memory_grow(l->memory, l->bytes, &l->capacity,
							l->size + size, 1);

	l->is_cut = !grown;
	if (!grown)
		return;
	l->bytes = grown;
	memcpy(l->bytes + l->size, bytes, size);
	l->size += size;
}

/* Characters that could break a line are replaced. */
static void add_part(struct text *l, const char *part)
{
	struct pd_bytes rest = pp_bytes(part);

	while (rest.size) {
		const uint8_t *start = rest.data;
		const size_t plain = pp_count_plain(rest);
		bool is_control = false;

		if (plain)
			rest = (struct pd_bytes){ rest.data + plain, rest.size - plain };
		else
			is_control = pp_is_control(pp_next_character(&rest));
		add_bytes(l, is_control ? (const uint8_t *)"?" : start,
			  is_control ? 1 : (size_t)(rest.data - start));
	}
}

static void begin_line(struct text *l)
{
	l->start = l->size;
	add_bytes(l, " ", 1);
}

static void end_line(struct text *l, bool is_open)
{
	if (l->size == l->start + 1)
		l->size = l->start;
	add_bytes(l, "\n", !is_open);
	if (!l->first)
		l->first = l->size;
}

/* The name of the image, as perf has it: code of compilers is in their maps. */
static void add_image(struct text *l, const struct pp_profile *p, uint32_t fields,
		      const struct pp_frame *f)
{
	const struct pd_image *image = pd_history_image(p->options.history, f->at.image);
	char text[64];

	if (!(fields & PP_FIELD_IMAGE))
		return;
	add_part(l, fields & PP_FIELD_SYMBOL ? " (" : "(");
	if (image && image->kind == PD_IMAGE_ANONYMOUS) {
		snprintf(text, sizeof(text), "/tmp/perf-%" PRId32 ".map", f->pid);
		add_part(l, text);
	} else {
		add_part(l, image ? image->path : "[unknown]");
	}
	add_part(l, ")");
}

/* A line for each function that is inlined there, then the one that they are in. */
static void make_text(struct text *l, const struct pp_profile *p, const struct pp_frame_lines *all,
		      const struct pp_frame *f)
{
	const uint32_t fields = all->fields;
	const struct pd_namer *namer = p->options.namer;
	struct pd_frame_names names = { .why = f->at.why };
	char offset[32];

	if (namer)
		namer->frame(namer->ctx, f->pid, &f->at, &names);
	begin_line(l);
	for (size_t i = 0; i < names.nr_functions && fields & PP_FIELD_SYMBOL; i++) {
		const char *symbol = pp_symbol_of(namer, &names.functions[i]);
		const bool is_inlined = i + 1 < names.nr_functions;

		snprintf(offset, sizeof(offset), "+0x%" PRIx64, is_inlined ? 0 : names.offset);
		add_part(l, symbol ? symbol : "[unknown]");
		add_part(l, symbol && fields & PP_FIELD_OFFSET ? offset : "");
		if (is_inlined) {
			add_part(l, " (inlined)");
			end_line(l, false);
			begin_line(l);
		}
	}
	if (!names.nr_functions && fields & PP_FIELD_SYMBOL)
		add_part(l, "[unknown]");
	add_image(l, p, fields, f);
	end_line(l, all->are_open);
}

/* Returns 0, or -1 without memory. */
static int make_lines(struct pp_frame_lines *all, struct pp_profile *p, const struct pp_frame *f,
		      struct pp_lines *made)
{
	struct text l = { .memory = &p->memory, .bytes = all->text,
			  .capacity = all->text_capacity };
	uint32_t string;

	make_text(&l, p, all, f);
	all->text = l.bytes;
	all->text_capacity = l.capacity;
	if (l.is_cut || l.size > UINT32_MAX)
		return -1;
	string = pp_strings_add(&p->strings, &p->memory, l.bytes, l.size);
	if (string == PP_NONE)
		return -1;
	*made = (struct pp_lines){ p->strings.items[string].start, (uint32_t)l.size,
				   (uint32_t)l.first };
	return 0;
}

/* Returns the lines of a frame that has none yet, or NULL without memory. */
static __attribute__((noinline)) const struct pp_lines *
add_lines(struct pp_frame_lines *all, struct pp_profile *p, uint32_t frame)
{
	const size_t before = all->capacity;
	struct pp_lines *items;

	if (frame == PP_NONE)
		return NULL;
	items = pp_memory_grow(&p->memory, all->items, &all->capacity, (size_t)frame + 1,
			       sizeof(*items));
	if (!items)
		return NULL;
	all->items = items;
	memset(items + before, 0, (all->capacity - before) * sizeof(*items));
	return make_lines(all, p, &p->frames.items[frame], &items[frame]) ? NULL : &items[frame];
}

/* Writes a character and an address, right-aligned, and overwrites as much again. Returns the
 * end. */
static char *write_address(char *at, char before, uint64_t address)
{
	static const char prefix[] = "\"0x";
	char text[32];
	const char *digits = text + sizeof(prefix) - 1;
	const size_t size = (size_t)(pd_write_address(text, address) - 1 - digits);

	*at++ = before;
	memset(at, ' ', ADDRESS_COLUMNS);
	memcpy(at + ADDRESS_COLUMNS - size, digits, ADDRESS_COLUMNS);
	return at + ADDRESS_COLUMNS;
}

static void put_line(struct pp_out *out, char before, uint64_t address, const char *text,
		     size_t size)
{
	char *at = write_address(pp_room(out), before, address);

	if (size <= PP_OUT_ROOM / 2) {
		memcpy(at, text, size);
		pp_wrote(out, at + size);
	} else {
		pp_wrote(out, at);
		pp_put(out, text, size);
	}
}

enum pd_code pp_put_frame(struct pp_frame_lines *l, struct pp_out *out, uint32_t frame, char before,
			  uint64_t address)
{
	const struct pp_lines *lines = frame < l->capacity ? &l->items[frame] : NULL;
	const char *text, *end, *newline;
	size_t size;

	if (!lines || !lines->size)
		lines = add_lines(l, out->p, frame);
	if (!lines)
		return PD_E_LIMIT;
	text = out->p->strings.bytes + lines->start;
	end = text + lines->size;
	for (size = lines->first; size; size = newline ? (size_t)(newline + 1 - text) : 0) {
		put_line(out, before, address, text, size);
		text += size;
		newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
	}
	return PD_OK;
}

void pp_frame_lines_free(struct pp_frame_lines *l, struct pp_memory *m)
{
	pp_memory_free(m, l->text, l->text_capacity, 1);
	pp_memory_free(m, l->items, l->capacity, sizeof(*l->items));
}
