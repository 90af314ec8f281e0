/* cfi_check.c - the limits of programs that libdw executes: see cfi_section.h. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/fde.h"
#include "unwind/cfi_section.h"

#define AUGMENTATION 16		/* bytes of the text, its NUL included */

/* --- numbers --- */

/* Reads a LEB128 of at most 64 bits, signed ones as their bits. */
static bool take_leb(struct pd_cursor *c, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint8_t *p = pd_take(c, 1);

		if (!p)
			return false;
		*v |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return true;
	}
	return false;
}

static bool skip_block(struct pd_cursor *c)
{
	uint64_t size;

	return take_leb(c, &size) && size <= pd_left(c) && pd_take(c, (size_t)size);
}

/* Reads an encoded pointer. *v is right for pointers that are relative to nothing or to their own
 * place. */
static bool take_encoded(const struct ps_cfi_section *s, struct pd_cursor *c, uint8_t encoding,
			 uint64_t *v)
{
	const unsigned int width = ps_encoded_width(s->ident, encoding);
	uint64_t at = s->vaddr + (uint64_t)(c->at - s->bytes.data);

	if (!width || encoding == DW_EH_PE_omit)
		return false;
	if ((encoding & 0x70) == DW_EH_PE_aligned && at % width &&
	    !pd_take(c, width - (size_t)(at % width)))
		return false;
	at = s->vaddr + (uint64_t)(c->at - s->bytes.data);
	if (!pd_take_number(c, width, v))
		return false;
	if (encoding & DW_EH_PE_signed && width < 8)
		*v |= -(*v >> (8 * width - 1)) << (8 * width - 1);
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		*v += at;
	return true;
}

/* --- programs --- */

/* Operands of the instructions whose number is in the low six bits: r a register, u a LEB128, b a
 * block, e an encoded pointer, digits that many bytes. "?": no such instruction. */
static const char *const operands[] = {
	[DW_CFA_nop] = "", [DW_CFA_set_loc] = "e", [DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2", [DW_CFA_advance_loc4] = "4", [DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r", [DW_CFA_undefined] = "r", [DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr", [DW_CFA_remember_state] = "", [DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "ru", [DW_CFA_def_cfa_register] = "r", [DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b", [DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru", [DW_CFA_def_cfa_sf] = "ru",
	[DW_CFA_def_cfa_offset_sf] = "u", [DW_CFA_val_offset] = "ru",
	[DW_CFA_val_offset_sf] = "ru", [DW_CFA_val_expression] = "rb",
	[DW_CFA_MIPS_advance_loc8] = "8", [DW_CFA_GNU_window_save] = "",
	[DW_CFA_GNU_args_size] = "u", [DW_CFA_GNU_negative_offset_extended] = "ru",
};

struct program {
	const struct ps_cfi_section *section;
	struct pd_cursor in;
	uint8_t encoding;	/* of DW_CFA_set_loc */
	unsigned int remembered;
};

static bool skip_operand(struct program *p, char kind)
{
	uint64_t v;

	switch (kind) {
	case 'r':
		return take_leb(&p->in, &v) && v < PS_CFI_REGISTERS;
	case 'u':
		return take_leb(&p->in, &v);
	case 'b':
		return skip_block(&p->in);
	case 'e':
		return take_encoded(p->section, &p->in, p->encoding, &v);
	default:
		return pd_take(&p->in, (size_t)(kind - '0')) != NULL;
	}
}

static bool check_instruction(struct program *p, uint8_t instruction)
{
	const uint8_t low = instruction & 0x3f;
	const char *kinds;

	if (instruction & 0xc0)
		return (instruction & 0xc0) != DW_CFA_offset || skip_operand(p, 'u');
	kinds = low < sizeof(operands) / sizeof(operands[0]) ? operands[low] : NULL;
	if (!kinds)
		return false;
	if (low == DW_CFA_remember_state)
		p->remembered++;
	if (low == DW_CFA_restore_state && p->remembered)
		p->remembered--;
	for (; *kinds; kinds++)
		if (!skip_operand(p, *kinds))
			return false;
	return p->remembered <= PS_CFI_REMEMBERED;
}

static bool check_program(const struct ps_cfi_section *s, struct pd_cursor in, uint8_t encoding)
{
	struct program p = { .section = s, .in = in, .encoding = encoding };

	while (pd_left(&p.in))
		if (!check_instruction(&p, *pd_take(&p.in, 1)))
			return false;
	return true;
}

/* --- entries --- */

static struct pd_cursor cursor_between(const struct ps_cfi_section *s, const uint8_t *from,
				       const uint8_t *to)
{
	const struct pd_bytes bytes = { from, from && to > from ? (size_t)(to - from) : 0 };

	return pd_cursor(bytes, ps_cfi_swap(s));
}

/* Reads the entry at an offset. Returns as dwarf_next_cfi() does, 1 at offsets that are beyond
 * the section: libdw adds to them before it compares. */
static int read_entry(const struct ps_cfi_section *s, uint64_t offset, Dwarf_Off *next,
		      Dwarf_CFI_Entry *out)
{
	Elf_Data data = { .d_buf = (void *)s->bytes.data, .d_size = s->bytes.size,
			  .d_type = ELF_T_BYTE, .d_version = EV_CURRENT, .d_align = 1 };

	*next = offset;
	if (s->bytes.size < 5 || offset >= s->bytes.size - 4)
		return 1;
	return dwarf_next_cfi(s->ident, &data, s->kind == PS_EH_FRAME, offset, next, out);
}

/* Returns whether the entry's augmentation is no longer than those that compilers write, "zPLRSB".
 * A CIE is read again for each of its FDEs. */
static bool is_short(const struct ps_cfi_section *s, uint64_t offset)
{
	struct pd_cursor c = pd_cursor(s->bytes, ps_cfi_swap(s));
	uint64_t length;
	size_t left;

	if (offset > s->bytes.size || !pd_take(&c, (size_t)offset) ||
	    !pd_take_number(&c, 4, &length) ||
	    !pd_take(&c, length == UINT32_MAX ? 8 + 8 + 1 : 4 + 1))	/* its id and version */
		return false;
	left = pd_left(&c);
	return left && memchr(c.at, 0, left < AUGMENTATION ? left : AUGMENTATION);
}

/* Properties that a CIE gives to its FDEs. */
struct cie {
	uint8_t encoding;	/* of addresses */
	bool sized;		/* augmentation data with a size before the program */
};

/* Reads the encodings from "z..." as libdw does. */
static bool read_augmentation(const struct ps_cfi_section *s, const Dwarf_CIE *in, struct cie *out)
{
	struct pd_cursor c = cursor_between(s, in->augmentation_data,
					    in->augmentation_data + in->augmentation_data_size);

	for (const char *a = in->augmentation + 1; *a; a++) {
		const uint8_t *encoding = NULL;

		if (*a != 'L' && *a != 'R' && *a != 'P')
			continue;
		encoding = pd_take(&c, 1);
		if (!encoding)
			return false;
		if (*a == 'R')
			out->encoding = *encoding;
		if (*a == 'P' && *encoding != DW_EH_PE_omit &&
		    !pd_take(&c, ps_encoded_width(s->ident, *encoding)))
			return false;
	}
	return true;
}

static bool check_cie(const struct ps_cfi_section *s, uint64_t offset, struct cie *out)
{
	Dwarf_CFI_Entry entry;
	struct pd_cursor in;
	Dwarf_Off next;

	*out = (struct cie){ .encoding = DW_EH_PE_absptr };
	if (!is_short(s, offset) || read_entry(s, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	out->sized = entry.cie.augmentation[0] == 'z';
	if (out->sized && !read_augmentation(s, &entry.cie, out))
		return false;
	if (!out->sized && entry.cie.augmentation[0] && strcmp(entry.cie.augmentation, "eh") != 0)
		return false;
	in = cursor_between(s, entry.cie.initial_instructions, entry.cie.initial_instructions_end);
	return pd_left(&in) <= PS_CFI_INITIAL && check_program(s, in, out->encoding);
}

static bool check_entry(const struct ps_cfi_section *s, const Dwarf_FDE *fde,
			struct ps_cfi_extent *out)
{
	struct pd_cursor in = cursor_between(s, fde->start, fde->end);
	struct cie cie;

	if (!check_cie(s, fde->CIE_pointer, &cie) ||
	    !take_encoded(s, &in, cie.encoding, &out->start) ||
	    !take_encoded(s, &in, cie.encoding & 0x0f, &out->size))
		return false;
	if (cie.sized && !skip_block(&in))
		return false;
	return pd_left(&in) <= PS_CFI_PROGRAM && check_program(s, in, cie.encoding);
}

bool ps_cfi_check_fde(const struct ps_cfi_section *s, uint64_t offset, struct ps_cfi_extent *out)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	return !read_entry(s, offset, &next, &entry) && !dwarf_cfi_cie_p(&entry) &&
	       check_entry(s, &entry.fde, out);
}

/* --- overlaps --- */

static int compare_extents(const void *a, const void *b)
{
	const struct ps_cfi_extent *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Returns the end. An empty extent has its start, because libdw's tree of FDEs does; one that
 * wraps has nothing. */
static uint64_t end_of(const struct ps_cfi_extent *e)
{
	return e->start + (e->size ? e->size : 1);
}

/* Keeps of all extents those parts that more than one has. */
static void keep_clashes(struct pd_buf *all)
{
	struct ps_cfi_extent *e = (struct ps_cfi_extent *)all->data;
	const size_t n = all->size / sizeof(*e);
	size_t kept = 0;

	if (n)
		qsort(e, n, sizeof(*e), compare_extents);
	for (size_t i = 0, next; i < n; i = next) {
		const uint64_t start = e[i].start;
		uint64_t end = end_of(&e[i]);

		for (next = i + 1; next < n && e[next].start < end; next++)
			if (end_of(&e[next]) > end)
				end = end_of(&e[next]);
		if (next - i > 1)
			e[kept++] = (struct ps_cfi_extent){ start, end - start };
	}
	all->size = kept * sizeof(*e);
}

bool ps_cfi_clashes(const struct ps_cfi_section *s, uint64_t vaddr)
{
	const struct ps_cfi_extent *e = (const struct ps_cfi_extent *)s->clashes.data;
	size_t low = 0, high = s->clashes.size / sizeof(*e);

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (vaddr < e[middle].start)
			high = middle;
		else
			low = middle + 1;
	}
	return low && vaddr - e[low - 1].start < e[low - 1].size;
}

bool ps_cfi_check_all(struct ps_cfi_section *s)
{
	struct ps_cfi_extent extent;
	Dwarf_CFI_Entry entry;
	Dwarf_Off offset = 0, next;

	s->clashes.budget = s->budget;
	for (;; offset = next) {
		const int status = read_entry(s, offset, &next, &entry);

		if (status > 0 || (status < 0 && next == offset))
			break;
		if (status || dwarf_cfi_cie_p(&entry))
			continue;
		if (!check_entry(s, &entry.fde, &extent))
			return false;
		if (end_of(&extent) > extent.start)
			pd_buf_append(&s->clashes, &extent, sizeof(extent));
	}
	keep_clashes(&s->clashes);
	return !s->clashes.failed;
}
