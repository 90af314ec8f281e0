/* go_table.c - read .gopclntab: see runtime/symtab.go, pcHeader, and runtime/runtime2.go, _func, of
 * Go 1.18 to 1.26. */
#include "image/go_table.h"

#include "base/cursor.h"

enum {
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
	HEADER_SIZE = 8,		/* before the words */
	FUNCTION_COUNT = 0, TEXT_START = 2, NAMES = 3, VALUES = 6, FUNCTIONS = 7, /* its words */
	MIN_PC = 20, MAX_PC = 21, TEXT = 22,	/* words of runtime.moduledata */
	ENTRY_SIZE = 8,			/* where a function begins, and where its _func is */
	NAME_IN_FUNCTION = 4,
	NAME_MOST = 2048,
	ALIGNMENT = 16,			/* of the table, at least */
	TRIED_MOST = 64,		/* places that begin as a table does */
};

static bool read_number(struct pd_bytes b, enum pd_swap swap, uint64_t at, unsigned int width,
			uint64_t *out)
{
	struct pd_cursor c = pd_cursor(b, swap);

	return at <= b.size && pd_take(&c, at) && pd_take_number(&c, width, out);
}

static bool read_word(const struct ps_go_table *g, unsigned int word, uint64_t *out)
{
	return read_number(g->bytes, g->swap, HEADER_SIZE + (uint64_t)word * g->width, g->width,
			   out);
}

static bool read_header(struct ps_go_table *g)
{
	struct pd_cursor c = pd_cursor(g->bytes, g->swap);
	uint64_t magic, zeros, quantum, width;

	if (!pd_take_number(&c, 4, &magic) || !pd_take_number(&c, 2, &zeros) ||
	    !pd_take_number(&c, 1, &quantum) || !pd_take_number(&c, 1, &width) ||
	    (magic != MAGIC_1_18 && magic != MAGIC_1_20) || zeros || (width != 4 && width != 8))
		return false;
	g->width = (unsigned int)width;
	g->quantum = quantum;
	g->has_lines = magic == MAGIC_1_20;
	return read_word(g, FUNCTION_COUNT, &g->nr) && read_word(g, TEXT_START, &g->text) &&
	       read_word(g, NAMES, &g->names) && read_word(g, VALUES, &g->values) &&
	       read_word(g, FUNCTIONS, &g->functions) && g->values <= g->bytes.size &&
	       g->names <= g->bytes.size && g->functions <= g->bytes.size &&
	       g->nr <= (g->bytes.size - g->functions) / ENTRY_SIZE;
}

/* The last one ends where that after it would begin. */
bool ps_go_table_start(const struct ps_go_table *g, uint64_t i, uint64_t *out)
{
	return read_number(g->bytes, g->swap, g->functions + i * ENTRY_SIZE, 4, out);
}

/* Go 1.26 states it elsewhere, next to the first and last address, which tell whether the words are
 * those that are meant. */
static bool find_text(const struct ps_elf *e, struct ps_go_table *g)
{
	const struct ps_section *s = ps_elf_section_named(e, ".go.module");
	const struct pd_bytes b = s ? ps_elf_section_bytes(e, s) : (struct pd_bytes){ NULL, 0 };
	uint64_t first, last, min, max;

	if (g->text)
		return true;
	return read_number(b, g->swap, (uint64_t)TEXT * g->width, g->width, &g->text) && g->text &&
	       read_number(b, g->swap, (uint64_t)MIN_PC * g->width, g->width, &min) &&
	       read_number(b, g->swap, (uint64_t)MAX_PC * g->width, g->width, &max) &&
	       ps_go_table_start(g, 0, &first) && ps_go_table_start(g, g->nr, &last) &&
	       min == g->text + first && max == g->text + last;
}

/* Returns the section of the functions, or NULL if they are in none. */
static const struct ps_section *find_section(const struct ps_elf *e, const struct ps_go_table *g)
{
	uint64_t last;

	for (size_t i = 0; ps_go_table_start(g, g->nr, &last) && i < e->nr_sections; i++) {
		const struct ps_section *s = &e->sections[i];

		if (s->header.sh_flags & SHF_EXECINSTR && g->text >= s->addr &&
		    g->text - s->addr <= s->header.sh_size &&
		    last <= s->header.sh_size - (g->text - s->addr))
			return s;
	}
	return NULL;
}

static bool open_at(const struct ps_elf *e, struct pd_bytes bytes, struct ps_go_table *g)
{
	*g = (struct ps_go_table){ .swap = ps_elf_swap(e), .bytes = bytes };
	return read_header(g) && find_text(e, g);
}

/* Looks for the table where the linker of C has put it together with other data. */
static bool search(const struct ps_elf *e, struct pd_bytes bytes, struct ps_go_table *g)
{
	unsigned int tried = 0;

	while (bytes.size >= ALIGNMENT && tried < TRIED_MOST) {
		const uint32_t magic = pd_load32(bytes.data, ps_elf_swap(e));

		if (magic == MAGIC_1_18 || magic == MAGIC_1_20) {
			if (open_at(e, bytes, g) && g->nr && find_section(e, g))
				return true;
			tried++;
		}
		bytes.data += ALIGNMENT;
		bytes.size -= ALIGNMENT;
	}
	return false;
}

/* Before 1.26, the table of a position-independent program was relocated. */
bool ps_go_table_open(const struct ps_elf *e, struct ps_go_table *g)
{
	const struct ps_section *s = ps_elf_section_named(e, ".gopclntab");

	if (!s)
		s = ps_elf_section_named(e, ".data.rel.ro.gopclntab");
	if (s)
		return open_at(e, ps_elf_section_bytes(e, s), g);
	s = ps_elf_section_named(e, ".data.rel.ro");
	return s && search(e, ps_elf_section_bytes(e, s), g);
}

bool ps_go_table_number(const struct ps_go_table *g, uint64_t i, unsigned int at,
			unsigned int width, uint64_t *out)
{
	uint64_t function;

	return read_number(g->bytes, g->swap, g->functions + i * ENTRY_SIZE + 4, 4, &function) &&
	       read_number(g->bytes, g->swap, g->functions + function + at, width, out);
}

/* Returns an empty name if it is not in the table, or too long. */
static struct pd_bytes read_name(const struct ps_go_table *g, uint64_t i)
{
	struct pd_cursor c = pd_cursor(g->bytes, g->swap);
	struct pd_bytes name;
	uint64_t at;

	if (!ps_go_table_number(g, i, NAME_IN_FUNCTION, 4, &at) ||
	    !pd_take(&c, g->names) || at > pd_left(&c) || !pd_take(&c, at))
		return (struct pd_bytes){ NULL, 0 };
	name.data = c.at;
	name.size = pd_left(&c) < NAME_MOST ? pd_left(&c) : NAME_MOST;
	at = pd_text_length(name);
	name.size = at < name.size ? at : 0;
	return name;
}

static void add_function(const struct ps_go_table *g, uint64_t i, uint64_t limit,
			 struct ps_symtab *t)
{
	struct ps_symbol s = { .binding = PS_GLOBAL, .source = PS_FROM_GO };
	uint64_t start, end;
	struct pd_bytes name;

	if (!ps_go_table_start(g, i, &start) || !ps_go_table_start(g, i + 1, &end) ||
	    end <= start)
		return;
	name = read_name(g, i);
	if (!name.size)
		return;
	s.start = g->text + start;
	s.end = g->text + end;
	s.name = (const char *)name.data;
	s.name_size = (uint32_t)name.size;
	ps_symtab_add(t, &s, limit);
}

void ps_elf_add_go_functions(const struct ps_elf *e, struct ps_symtab *t)
{
	const struct ps_section *s;
	struct ps_go_table g;
	uint64_t limit;

	if (!ps_go_table_open(e, &g))
		return;
	s = find_section(e, &g);
	if (!s || ps_symtab_reserve(t, t->nr + g.nr))
		return;
	limit = s->addr + s->header.sh_size;
	for (uint64_t i = 0; i < g.nr; i++)
		add_function(&g, i, limit, t);
}
