/* lines.c - source lines of BPF programs: see lines.h. */
#include "bpf/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "pd/tree.h"

enum {
	LINE_MIN = 16,		/* struct bpf_line_info of linux/bpf.h */
	LINE_FILE = 4,
	LINE_PLACE = 12,
	COLUMN_BITS = 10,	/* of its place */
	ADDRESS_SIZE = 8,
	TAG_SIZE = 8,
	BTF_MAGIC = 0xeb9f,
};

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static uint64_t number_of(const struct pd_item *of, const char *path)
{
	const struct pd_item *i = pd_item_get(of, path);

	return i ? i->number : 0;
}

static struct pd_bytes bytes_of(const struct pd_item *of, const char *path)
{
	const struct pd_item *i = pd_item_get(of, path);

	return i && i->kind == PD_ITEM_BYTES ? i->bytes : (struct pd_bytes){ NULL, 0 };
}

/* --- BTF --- */

/* BTF states its byte order: that of the machine, and of all bytes of its programs. */
struct types {
	enum pd_swap swap;
	struct pd_bytes strings;	/* followed by a NUL */
};

/* struct btf_header of linux/btf.h, which is followed by types and strings. */
static bool find_strings(struct pd_bytes btf, struct types *out)
{
	uint64_t magic, flags, header, types, types_size, offset, size;
	struct pd_cursor c;

	out->swap = btf.size >= 2 && pd_load16(btf.data, PD_SWAP_NO) == BTF_MAGIC ? PD_SWAP_NO :
										    PD_SWAP_YES;
	c = pd_cursor(btf, out->swap);
	if (!pd_take_number(&c, 2, &magic) || magic != BTF_MAGIC ||
	    !pd_take_number(&c, 2, &flags) || !pd_take_number(&c, 4, &header) ||
	    !pd_take_number(&c, 4, &types) || !pd_take_number(&c, 4, &types_size) ||
	    !pd_take_number(&c, 4, &offset) || !pd_take_number(&c, 4, &size) ||
	    header + offset > btf.size || size > btf.size - (header + offset))
		return false;
	out->strings = (struct pd_bytes){ btf.data + header + offset, size };
	return true;
}

static void read_types(struct pd_map *by_id, struct pd_arena *arena, struct pd_tree *tree,
		       struct pd_reader *r)
{
	struct pd_error e;
	const struct pd_item *root = pd_tree_read_feature(tree, r, PD_FEATURE_BPF_BTF, &e),
			     *all = pd_item_get(root, "BPF_BTF"), *btf = NULL;

	while ((btf = pd_item_next(all, btf))) {
		struct types found, *t;
		uint8_t *copy;

		if (!find_strings(bytes_of(btf, "data"), &found))
			continue;
		t = pd_arena_alloc(arena, sizeof(*t));
		copy = (void *)pd_arena_text(arena, found.strings.data, found.strings.size);
		if (!t || !copy)
			return;
		*t = (struct types){ found.swap, { copy, found.strings.size } };
		pd_map_add(by_id, number_of(btf, "id"), t);
	}
}

/* --- programs --- */

static int compare_lines(const void *a, const void *b)
{
	const struct ps_bpf_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->instruction > y->instruction) - (x->instruction < y->instruction);
}

static int compare_functions(const void *a, const void *b)
{
	const struct ps_bpf_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->tag > y->tag) - (x->tag < y->tag);
}

/* The i-th line is at the i-th address. */
static void read_lines(struct ps_bpf *b, struct ps_bpf_program *p, const struct pd_item *from,
		       enum pd_swap swap)
{
	const struct pd_bytes lines = bytes_of(from, "data.line_info"),
			      addresses = bytes_of(from, "data.jited_line_info");
	const size_t line_size = (size_t)number_of(from, "info.line_info_rec_size"),
		     address_size = (size_t)number_of(from, "info.jited_line_info_rec_size");
	size_t n;

	if (line_size < LINE_MIN || address_size < ADDRESS_SIZE)
		return;
	n = smaller_of(lines.size / line_size, addresses.size / address_size);
	p->lines = n ? pd_arena_alloc(b->arena, n * sizeof(*p->lines)) : NULL;
	if (!p->lines)
		return;
	p->nr = n;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *line = lines.data + i * line_size;

		p->lines[i] = (struct ps_bpf_line){
			.address = pd_load64(addresses.data + i * address_size, swap),
			.instruction = pd_load32(line, swap),
			.file = pd_load32(line + LINE_FILE, swap),
			.line = pd_load32(line + LINE_PLACE, swap) >> COLUMN_BITS,
		};
	}
	qsort(p->lines, n, sizeof(*p->lines), compare_lines);
}

static uint64_t tag_of(struct pd_bytes tag)
{
	uint64_t out = 0;

	for (size_t i = 0; tag.size == TAG_SIZE && i < TAG_SIZE; i++)
		out = out << 8 | tag.data[i];
	return out;
}

/* Adds the functions of a program, as many as there is room for. Kernels that hide addresses have
 * zeros. */
static void read_functions(struct ps_bpf *b, size_t room, const struct pd_item *from,
			   const struct ps_bpf_program *p)
{
	const struct pd_item *starts = pd_item_get(from, "data.jited_ksyms"),
			     *sizes = pd_item_get(from, "data.jited_func_lens"),
			     *tags = pd_item_get(from, "data.prog_tags");
	const struct pd_item *start = NULL, *size = NULL, *tag = NULL;

	while (b->nr < room && (start = pd_item_next(starts, start)) &&
	       (size = pd_item_next(sizes, size)) && (tag = pd_item_next(tags, tag)))
		if (start->number)
			b->functions[b->nr++] = (struct ps_bpf_function){
				.start = start->number, .size = size->number,
				.tag = tag_of(tag->bytes), .program = p };
}

static size_t count_functions(const struct pd_item *programs)
{
	const struct pd_item *p = NULL, *starts;
	size_t n = 0;

	while ((p = pd_item_next(programs, p))) {
		starts = pd_item_get(p, "data.jited_ksyms");
		n += starts ? starts->count : 0;
	}
	return n;
}

static void read_program(struct ps_bpf *b, size_t room, const struct pd_item *from,
			 const struct pd_map *types)
{
	const struct types *t = pd_map_find(types, number_of(from, "info.btf_id"));
	struct ps_bpf_program *p = t ? pd_arena_alloc(b->arena, sizeof(*p)) : NULL;

	if (!p)
		return;
	p->strings = t->strings;
	read_lines(b, p, from, t->swap);
	read_functions(b, room, from, p);
}

static void read_programs(struct ps_bpf *b, struct pd_tree *tree, struct pd_reader *r,
			  const struct pd_map *types)
{
	struct pd_error e;
	const struct pd_item *root = pd_tree_read_feature(tree, r, PD_FEATURE_BPF_PROG_INFO, &e),
			     *programs = pd_item_get(root, "BPF_PROG_INFO"), *p = NULL;
	const size_t room = count_functions(programs);

	b->functions = room ? pd_arena_alloc(b->arena, room * sizeof(*b->functions)) : NULL;
	while (b->functions && (p = pd_item_next(programs, p)))
		read_program(b, room, p, types);
	if (b->functions && b->nr)
		qsort(b->functions, b->nr, sizeof(*b->functions), compare_functions);
}

void ps_bpf_read(struct ps_bpf *b, struct pd_reader *r)
{
	struct pd_budget *budget = b->arena->budget;
	struct pd_map types = { .budget = budget };
	const uint64_t left = budget->limit - budget->used;
	struct pd_tree *tree = left ? pd_tree_new(PD_TREE_OPTIONS(.memory_limit = left)) : NULL;

	if (tree) {
		read_types(&types, b->arena, tree, r);
		read_programs(b, tree, r, &types);
	}
	pd_tree_free(tree);
	pd_map_free(&types);
}

/* --- searching --- */

/* Reads the tag of "bpf_prog_6deef7357e7b4530_name". */
static bool read_tag(const char *name, uint64_t *tag)
{
	static const char prefix[] = "bpf_prog_";
	char digits[2 * TAG_SIZE + 1];

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	if (strspn(name, "0123456789abcdef") != sizeof(digits) - 1)
		return false;
	memcpy(digits, name, sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	*tag = strtoull(digits, NULL, 16);
	return true;
}

/* Returns the last line at or before an address of the function. */
static const struct ps_bpf_line *find_line(const struct ps_bpf_function *f, uint64_t address)
{
	size_t low = 0, high = f->program->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->program->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || f->program->lines[low - 1].address < f->start)
		return NULL;
	return &f->program->lines[low - 1];
}

const struct ps_bpf_line *ps_bpf_find(const struct ps_bpf *b, uint64_t start, const char *name,
				      uint64_t address, const char **file)
{
	struct ps_bpf_function wanted = { .start = start };
	const struct ps_bpf_function *f;
	const struct ps_bpf_line *line;

	if (!b->nr || !read_tag(name, &wanted.tag))
		return NULL;
	f = bsearch(&wanted, b->functions, b->nr, sizeof(wanted), compare_functions);
	if (!f || address < f->start || address - f->start >= f->size)
		return NULL;
	line = find_line(f, address);
	*file = NULL;
	if (line && line->file && line->file < f->program->strings.size)
		*file = (const char *)f->program->strings.data + line->file;
	return line;
}
