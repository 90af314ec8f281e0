/* cfi.c - call frame information of an image: see cfi.h. */
#include "unwind/cfi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "image/lone_section.h"
#include "image/refused.h"
#include "unwind/cfi_section.h"
#include "unwind/code_row.h"
#include "unwind/code_starts.h"
#include "unwind/go_row.h"
#include "unwind/plt_row.h"
#include "unwind/signal_row.h"

#define MAX_EPILOGUE 8		/* rows that are looked back through */

struct source {
	struct ps_cfi_section section;
	Dwarf_CFI *cfi;		/* NULL: none */
};

/* As in libdwfl, .eh_frame comes first. */
enum { EH_FRAME, DEBUG_FRAME, SOURCES };

struct ps_cfi {
	pthread_mutex_t lock;
	struct pd_budget *budget;
	const struct ps_elf *image;	/* NULL: there are given rows */
	bool refused;		/* there is CFI, but not in a form that may be given to libdw */
	struct source sources[SOURCES];
	struct ps_lone_section debug_frame;
	struct ps_go_table go;
	bool has_go, tried_go;
	const struct ps_symtab *functions;	/* NULL: not known */
	struct ps_code_starts starts;		/* of those without a symbol */
	struct ps_frame_finder finder;	/* `find` is NULL: none, or asked already */
	struct ps_given_rows given;	/* `addresses` is NULL: none, there are sources */
	struct ps_row_keeper *keeper;	/* NULL: nothing is kept */
	struct ps_asked_row *asked;	/* under the lock of the keeper */
};

static struct ps_cfi *make_handle(struct pd_budget *budget)
{
	struct ps_cfi *c = pd_budget_alloc(budget, sizeof(*c));

	if (!c)
		return NULL;
	if (pthread_mutex_init(&c->lock, NULL)) {
		pd_budget_free(budget, c, sizeof(*c));
		return NULL;
	}
	c->budget = budget;
	return c;
}

struct ps_cfi *ps_cfi_given(const struct ps_given_rows *given, struct pd_budget *budget)
{
	struct ps_cfi *c = make_handle(budget);

	if (c)
		c->given = *given;
	return c;
}

struct ps_cfi *ps_cfi_new(struct ps_elf *image, struct pd_budget *budget)
{
	struct ps_cfi *c = make_handle(budget);
	struct source *s;

	if (!c)
		return NULL;
	s = &c->sources[EH_FRAME];
	c->image = image;
	ps_refused_begin();
	if (ps_cfi_find_eh_frame(image, &s->section))
		s->cfi = dwarf_getcfi_elf(image->elf);
	else
		c->refused = s->section.bytes.size != 0;
	ps_refused(budget);
	return c;
}

void ps_cfi_set_finder(struct ps_cfi *c, const struct ps_frame_finder *finder)
{
	c->finder = *finder;
}

void ps_cfi_set_functions(struct ps_cfi *c, const struct ps_symtab *functions)
{
	c->functions = functions;
}

void ps_cfi_add_debug_frame(struct ps_cfi *c, const struct ps_elf *file)
{
	struct source *s = &c->sources[DEBUG_FRAME];

	if (file->header.e_type == ET_REL ||	/* its addresses are not relocated */
	    ps_lone_section_open(&c->debug_frame, file, ".debug_frame", c->budget) != PS_OK)
		return;
	if (ps_cfi_find_debug_frame(c->debug_frame.dwarf, c->budget, &s->section))
		s->cfi = dwarf_getcfi(c->debug_frame.dwarf);
	else if (s->section.bytes.size)
		c->refused = true;
}

void ps_cfi_free(struct ps_cfi *c)
{
	if (!c)
		return;
	if (c->sources[EH_FRAME].cfi)
		dwarf_cfi_end(c->sources[EH_FRAME].cfi);
	for (size_t i = 0; i < SOURCES; i++)
		ps_cfi_section_close(&c->sources[i].section);
	ps_lone_section_close(&c->debug_frame);
	if (c->image)
		ps_code_starts_free(&c->starts, c->image->budget);
	pthread_mutex_destroy(&c->lock);
	pd_budget_free(c->budget, c, sizeof(*c));
}

/* Asks libdw for the row at an address. Returns PS_END_NONE and *frame, to be freed. */
static enum ps_end find_frame(const struct source *s, uint64_t vaddr, struct ps_cfi_extent *extent,
			      Dwarf_Frame **frame)
{
	struct ps_cfi_entry entry;

	*extent = (struct ps_cfi_extent){ .start = vaddr };
	if (s->section.scan && ps_cfi_clashes(&s->section, vaddr))
		return PS_END_BAD_CFI;
	if (s->section.index.size) {
		if (!ps_cfi_search(&s->section, vaddr, &entry))
			return PS_END_NO_CFI;
		if (!ps_cfi_check_fde(&s->section, entry.offset, extent) ||
		    extent->start != entry.start || extent->size > entry.end - entry.start)
			return PS_END_BAD_CFI;
		if (vaddr - extent->start >= extent->size)
			return PS_END_NO_CFI;
	}
	if (!dwarf_cfi_addrframe(s->cfi, vaddr, frame))
		return PS_END_NONE;
	/* Without a table, an address that no FDE has is not distinguished from damage. */
	return s->section.index.size ? PS_END_BAD_CFI : PS_END_NO_CFI;
}

static enum ps_end read_row(const struct source *s, const struct ps_arch *arch, uint64_t vaddr,
			    struct ps_row *out, uint64_t *function)
{
	struct ps_cfi_extent extent;
	Dwarf_Frame *frame;
	const enum ps_end end = find_frame(s, vaddr, &extent, &frame);
	bool good;

	if (end != PS_END_NONE)
		return end;
	good = ps_row_read(frame, arch, out);
	free(frame);
	*function = extent.start;
	return good ? PS_END_NONE : PS_END_BAD_CFI;
}

/* Returns whether a row before this one, in the same function, has the saved value at or above the
 * stack pointer: then it was popped since, and the register has it again. Otherwise it is in the
 * red zone, and the register may have been reused. */
static bool was_popped(const struct source *s, const struct ps_arch *arch, const struct ps_row *row,
		       uint64_t function, unsigned int reg)
{
	const int64_t offset = row->at[reg].offset;
	uint64_t start = row->start, ignored;
	struct ps_row before;

	for (unsigned int i = 0; i < MAX_EPILOGUE && start > function; i++) {
		if (read_row(s, arch, start - 1, &before, &ignored) != PS_END_NONE ||
		    before.at[reg].where != PS_AT_CFA || before.at[reg].offset != offset ||
		    before.cfa.where != PS_IN_REGISTER || before.start >= start)
			return false;
		if (!ps_row_saves_below_sp(&before, arch, reg))
			return true;
		start = before.start;
	}
	return false;
}

/* In an epilogue, CFI goes on to give the place on the stack of registers that are popped already,
 * which now is below the stack pointer and is not copied. */
static void settle_epilogue(const struct source *s, const struct ps_arch *arch, uint64_t function,
			    struct ps_row *row)
{
	for (unsigned int reg = 0; reg < arch->nr_registers; reg++)
		if (arch->preserved >> reg & 1 && ps_row_saves_below_sp(row, arch, reg) &&
		    was_popped(s, arch, row, function, reg))
			row->at[reg] = (struct ps_location){ .where = PS_AT_SAME };
}

/* --- rows that travel --- */

void ps_cfi_keep_asked(struct ps_cfi *c, struct ps_row_keeper *keeper)
{
	c->keeper = keeper;
}

const struct ps_asked_row *ps_cfi_asked(const struct ps_cfi *c)
{
	return c->asked;
}

static void keep_row(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
		     const struct ps_row *row, enum ps_end end)
{
	uint8_t bytes[PS_ROW_BYTES_MAX];
	const size_t n = ps_row_encode(row, end, arch, bytes);
	struct ps_asked_row *asked;
	char *copy;

	if (!n)
		return;
	pthread_mutex_lock(&c->keeper->lock);
	asked = pd_arena_alloc(&c->keeper->arena, sizeof(*asked));
	copy = pd_arena_text(&c->keeper->arena, bytes, n);
	if (asked && copy) {
		*asked = (struct ps_asked_row){ c->asked, vaddr, { (const uint8_t *)copy, n } };
		c->asked = asked;
	}
	pthread_mutex_unlock(&c->keeper->lock);
}

static enum ps_end given_row(const struct ps_cfi *c, const struct ps_arch *arch, uint64_t address,
			     struct ps_row *out)
{
	struct pd_bytes bytes;

	if (!ps_given_row_find(&c->given, address, &bytes))
		return PS_END_NO_FILE;
	out->start = address;
	out->end = address + 1;
	return ps_row_decode(bytes, arch, out);
}

/* The lock is held. */
static void find_debug_frame(struct ps_cfi *c)
{
	const struct ps_frame_finder finder = c->finder;

	if (!finder.find)
		return;
	c->finder.find = NULL;
	finder.find(finder.ctx, c);
}

/* Where a function begins that has no CFI. */
struct function {
	uint64_t start;
	bool has_symbol;
};

/* A symbol without a size may cover functions that follow it: these are called. An FDE covers one
 * function, though it may be wrong otherwise. The lock is held. */
static bool find_function(struct ps_cfi *c, uint64_t vaddr, struct function *out)
{
	struct ps_symbol s = { .start = 0 };
	const bool is_known = c->functions && ps_symtab_find(c->functions, vaddr, &s);
	uint64_t called;

	out->has_symbol = is_known && s.source <= PS_FROM_MINIDEBUG;
	out->start = s.start;
	if (is_known && s.source == PS_FROM_FDE)
		return true;
	if (!out->has_symbol)
		return ps_code_start(&c->starts, c->image, vaddr, PS_CODE_TAKEN, &out->start);
	if (!ps_code_start(&c->starts, c->image, vaddr, PS_CODE_CALLED, &called) ||
	    called <= s.start)
		return true;
	out->start = called;
	out->has_symbol = false;
	return true;
}

static bool row_of_code(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
			struct ps_row *out)
{
	struct function function;

	return find_function(c, vaddr, &function) &&
	       ps_code_row(c->image, arch, function.start, vaddr, out);
}

bool ps_cfi_row_of_code(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
			struct ps_row *out)
{
	bool found;

	if (!c->image || c->image->header.e_machine != arch->machine)
		return false;
	pthread_mutex_lock(&c->lock);
	found = row_of_code(c, arch, vaddr, out);
	pthread_mutex_unlock(&c->lock);
	return found;
}

static bool find_function_locked(struct ps_cfi *c, uint64_t vaddr, struct function *out)
{
	bool found;

	pthread_mutex_lock(&c->lock);
	found = find_function(c, vaddr, out);
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* Returns whether an address is in the function that the program begins with. */
static bool is_in_entry(struct ps_cfi *c, uint64_t vaddr)
{
	const uint64_t entry = c->image->header.e_entry;
	struct function function;

	return entry && find_function_locked(c, vaddr, &function) && function.start == entry;
}

/* The caller of a function with a symbol may have called another one, which jumped to it; as the
 * one does that the entry point calls. Functions without a symbol may begin elsewhere than it
 * seems. */
bool ps_cfi_may_call(const struct ps_code_place *from, const struct ps_code_place *to)
{
	const uint64_t vaddr = from->addr - from->bias;
	struct function function;
	uint64_t target;

	if (!from->cfi->image || (to && !to->cfi->image))
		return true;
	switch (ps_code_call_before(from->cfi->image, vaddr, &target)) {
	case PS_NO_CALL:
		return false;
	case PS_CALL_INDIRECT:
		return true;
	case PS_CALL_DIRECT:
		break;
	}
	if (!to || is_in_entry(from->cfi, vaddr - 1))
		return true;
	return find_function_locked(to->cfi, to->addr - to->bias, &function) &&
	       (function.has_symbol || function.start + to->bias == target + from->bias);
}

/* Makes the row of code that has no CFI by what is else known of it. The lock is held. */
static bool row_without_cfi(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
			    struct ps_row *out)
{
	return ps_signal_row(c->image, arch, vaddr, out) ||
	       ps_plt_row(c->image, arch, vaddr, out) ||
	       (c->has_go && ps_go_row(&c->go, arch, vaddr, out)) ||
	       row_of_code(c, arch, vaddr, out);
}

/* Go's linker writes CFI for all code, as if it had been called. */
static bool signal_row_of_go(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
			     struct ps_row *out)
{
	if (!c->tried_go)
		c->has_go = ps_go_table_open(c->image, &c->go);
	c->tried_go = true;
	return c->has_go && (ps_signal_row(c->image, arch, vaddr, out) ||
			     ps_signal_row(c->image, arch, vaddr - 1, out));
}

/* Reads the row of the first source that has one. The lock is held. */
static enum ps_end row_of_sources(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
				  struct ps_row *out)
{
	bool is_bad = false;

	if (signal_row_of_go(c, arch, vaddr, out))
		return PS_END_NONE;
	for (size_t i = 0; i < SOURCES; i++) {
		const struct source *s = &c->sources[i];
		uint64_t function;
		enum ps_end found;

		if (i == DEBUG_FRAME)
			find_debug_frame(c);
		if (!s->cfi)
			continue;
		found = read_row(s, arch, vaddr, out, &function);
		if (found == PS_END_NONE) {
			settle_epilogue(s, arch, function, out);
			return PS_END_NONE;
		}
		is_bad |= found == PS_END_BAD_CFI;
	}
	if (is_bad || c->refused)
		return PS_END_BAD_CFI;
	return row_without_cfi(c, arch, vaddr, out) ? PS_END_NONE : PS_END_NO_CFI;
}

static enum ps_end compiled_row(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
				struct ps_row *out)
{
	enum ps_end end;

	if (c->image->header.e_machine != arch->machine)
		return PS_END_NO_CFI;
	pthread_mutex_lock(&c->lock);
	ps_refused_begin();
	end = row_of_sources(c, arch, vaddr, out);
	if (end != PS_END_NONE && ps_refused(c->budget))
		end = PS_END_LIMIT;
	pthread_mutex_unlock(&c->lock);
	return end;
}

enum ps_end ps_cfi_row(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
		       struct ps_row *out)
{
	enum ps_end end;

	if (c->given.addresses)
		return given_row(c, arch, vaddr, out);
	end = compiled_row(c, arch, vaddr, out);
	if (c->keeper && end != PS_END_LIMIT)
		keep_row(c, arch, vaddr, out, end);
	return end;
}
