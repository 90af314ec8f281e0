/* simpleperf.c - reads the symbols that simpleperf found on the device: see simpleperf.h. */
#include "bundle/simpleperf.h"

#include "base/cursor.h"

enum {
	NAME_MOST = 1 << 16,
	VARINT_BYTES = 10,
	WIRE_BITS = 3,			/* of a tag: how its value is written */
};

enum wire { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* Field numbers of the messages. */
enum { FILE_PATH = 1, FILE_TYPE, FILE_MIN_VADDR, FILE_SYMBOL, FILE_DEX, FILE_ELF, FILE_MODULE };
enum { SYMBOL_VADDR = 1, SYMBOL_SIZE, SYMBOL_NAME };
enum { MIN_OFFSET = 1 };

static void add_symbol(struct ps_simpleperf_file *f, uint64_t start, uint64_t size,
		       struct pd_bytes name)
{
	const struct ps_symbol symbol = {
		.start = start, .end = start + size, .name = (const char *)name.data,
		.name_size = (uint32_t)name.size, .binding = PS_GLOBAL, .source = PS_FROM_SYMTAB,
	};

	if (name.size && name.size < NAME_MOST && symbol.end >= start)
		ps_symtab_add(&f->symbols, &symbol, UINT64_MAX);
}

/* --- SIMPLEPERF_FILE --- */

static bool take_text(struct pd_cursor *c, struct pd_bytes *out)
{
	*out = (struct pd_bytes){ c->at, pd_text_length((struct pd_bytes){ c->at, pd_left(c) }) };
	return pd_take(c, out->size + 1) != NULL;
}

static bool take_symbols(struct pd_cursor *c, struct ps_simpleperf_file *f)
{
	uint64_t n, start, size;
	struct pd_bytes name;

	if (!pd_take_number(c, 4, &n))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!pd_take_number(c, 8, &start) || !pd_take_number(c, 4, &size) ||
		    !take_text(c, &name))
			return false;
		add_symbol(f, start, size, name);
	}
	return true;
}

static bool read_plain(struct pd_cursor *c, struct ps_simpleperf_file *f)
{
	if (!take_text(c, &f->path) || !pd_take_number(c, 4, &f->kind) ||
	    !pd_take_number(c, 8, &f->min_vaddr) || !take_symbols(c, f))
		return false;
	if (f->kind == PS_SIMPLEPERF_ELF || f->kind == PS_SIMPLEPERF_MODULE)
		if (!pd_take_number(c, 8, &f->min_offset))
			f->min_offset = PS_NO_MIN_OFFSET;
	return true;
}

/* --- SIMPLEPERF_FILE2 --- */

static bool take_varint(struct pd_cursor *c, uint64_t *out)
{
	uint64_t byte;

	*out = 0;
	for (unsigned int i = 0; i < VARINT_BYTES; i++) {
		if (!pd_take_number(c, 1, &byte))
			return false;
		*out |= (byte & 0x7f) << 7 * i;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* A field of a message: a number, or bytes. */
struct field {
	uint64_t id, number;
	struct pd_bytes bytes;
};

static bool take_field(struct pd_cursor *c, struct field *out)
{
	uint64_t tag, size;

	*out = (struct field){ 0 };
	if (!take_varint(c, &tag))
		return false;
	out->id = tag >> WIRE_BITS;
	switch (tag & ((1 << WIRE_BITS) - 1)) {
	case WIRE_VARINT:
		return take_varint(c, &out->number);
	case WIRE_64:
		return pd_take(c, 8) != NULL;
	case WIRE_32:
		return pd_take(c, 4) != NULL;
	case WIRE_BYTES:
		return take_varint(c, &size) && size <= pd_left(c) &&
		       pd_take_bytes(c, (size_t)size, &out->bytes);
	default:
		return false;
	}
}

static bool read_symbol(struct pd_bytes message, struct ps_simpleperf_file *f)
{
	struct pd_cursor c = pd_cursor(message, PD_SWAP_NO);
	struct pd_bytes name = { NULL, 0 };
	uint64_t start = 0, size = 0;
	struct field field;

	while (pd_left(&c)) {
		if (!take_field(&c, &field))
			return false;
		if (field.id == SYMBOL_VADDR)
			start = field.number;
		else if (field.id == SYMBOL_SIZE)
			size = field.number;
		else if (field.id == SYMBOL_NAME)
			name = field.bytes;
	}
	add_symbol(f, start, size, name);
	return true;
}

/* Numbers that are 0 are not written. */
static bool read_min_offset(struct pd_bytes message, struct ps_simpleperf_file *f)
{
	struct pd_cursor c = pd_cursor(message, PD_SWAP_NO);
	struct field field;

	f->min_offset = 0;
	while (pd_left(&c)) {
		if (!take_field(&c, &field))
			return false;
		if (field.id == MIN_OFFSET)
			f->min_offset = field.number;
	}
	return true;
}

static bool read_protobuf(struct pd_cursor *c, struct ps_simpleperf_file *f)
{
	struct field field;
	bool is_sound = true;

	while (is_sound && pd_left(c)) {
		is_sound = take_field(c, &field);
		if (field.id == FILE_PATH)
			f->path = field.bytes;
		else if (field.id == FILE_TYPE)
			f->kind = field.number;
		else if (field.id == FILE_MIN_VADDR)
			f->min_vaddr = field.number;
		else if (field.id == FILE_SYMBOL)
			is_sound = is_sound && read_symbol(field.bytes, f);
		else if (field.id == FILE_ELF || field.id == FILE_MODULE)
			is_sound = is_sound && read_min_offset(field.bytes, f);
	}
	return is_sound;
}

/* --- both --- */

/* Takes an entry after its size. */
static bool take_entry(struct pd_cursor *c, struct pd_cursor *out)
{
	struct pd_bytes bytes;
	uint64_t size;

	if (!pd_take_number(c, 4, &size) || size > pd_left(c) ||
	    !pd_take_bytes(c, (size_t)size, &bytes))
		return false;
	*out = pd_cursor(bytes, c->swap);
	return true;
}

/* The order in which the first size fits. */
static struct pd_cursor begin(struct pd_bytes section)
{
	struct pd_cursor c = pd_cursor(section, PD_SWAP_NO);

	if (section.size >= 4 && pd_load32(section.data, PD_SWAP_NO) > section.size - 4)
		c.swap = PD_SWAP_YES;
	return c;
}

struct ps_simpleperf_file *ps_simpleperf_read(struct pd_bytes section,
					      enum ps_simpleperf_form form,
					      struct pd_arena *arena, size_t *n)
{
	struct ps_simpleperf_file *files;
	struct pd_cursor c = begin(section), entry;
	size_t count = 0;

	while (take_entry(&c, &entry))
		count++;
	*n = 0;
	files = pd_arena_alloc(arena, count * sizeof(*files));
	c = begin(section);
	while (files && *n < count && take_entry(&c, &entry)) {
		struct ps_simpleperf_file *f = &files[*n];
		bool is_sound;

		*f = (struct ps_simpleperf_file){ .min_offset = PS_NO_MIN_OFFSET,
						  .symbols.budget = arena->budget };
		is_sound = form == PS_SIMPLEPERF_PLAIN ? read_plain(&entry, f) :
							 read_protobuf(&entry, f);
		if (is_sound && !f->symbols.failed && !ps_symtab_seal(&f->symbols))
			++*n;
		else
			ps_symtab_free(&f->symbols);
	}
	return files;
}

void ps_simpleperf_free(struct ps_simpleperf_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ps_symtab_free(&files[i].symbols);
}
