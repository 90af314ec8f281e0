/* symtab.h - a sorted table of named address ranges: of an ELF image, a kernel, or JIT code. */
#ifndef PS_IMAGE_SYMTAB_H
#define PS_IMAGE_SYMTAB_H

#include <stdbool.h>

#include "base/buf.h"

/* Bytes of a name that are read: one more than ps_demangle() takes. */
enum { PS_NAME_READ = 16385 };

/* In the order in which they are preferred where two name the same address equally well. */
enum ps_source {
	PS_FROM_SYMTAB,
	PS_FROM_DYNSYM,
	PS_FROM_MINIDEBUG,
	PS_FROM_GO,		/* .gopclntab */
	PS_FROM_PLT,
	PS_FROM_KALLSYMS,
	PS_FROM_PERF_MAP,
	PS_FROM_JITDUMP,
	PS_FROM_FDE,		/* the extent of a function, without a name */
};

enum ps_binding { PS_LOCAL, PS_WEAK, PS_GLOBAL };

struct ps_symbol {
	uint64_t start, end;	/* added with end == start: a symbol without a size */
	uint64_t from;		/* of JIT code: when it was written, ns; tables don't keep it */
	const char *name;	/* borrowed until the table is freed; not terminated */
	uint32_t name_size;
	uint8_t binding, source;
};

struct ps_symtab_entry;

/* Must be zero-initialized, except for the budget. */
struct ps_symtab {
	struct pd_budget *budget;
	struct ps_symtab_entry *entries;
	uint64_t *starts;		/* of the entries, once sealed */
	size_t nr, capacity, nr_starts;
	bool failed;			/* something could not be added */
};

/* Makes room for `nr` symbols in all, which need not be added. Returns 0, or -1 without memory. */
int ps_symtab_reserve(struct ps_symtab *t, size_t nr);

/* Adds a symbol. `limit` is the end of its section: a symbol without a size ends there, at the next
 * symbol, or after a page. Symbols without a name are extents. Without memory `failed` is set. */
void ps_symtab_add(struct ps_symtab *t, const struct ps_symbol *s, uint64_t limit);

/* Sorts the table and makes it searchable. Keeps one of several symbols at one address. May be
 * called again after more symbols have been added. Returns 0, or -1 without memory. */
int ps_symtab_seal(struct ps_symtab *t);

/* Finds the symbol that contains the address: the innermost. Safe in any number of threads once the
 * table is sealed. */
bool ps_symtab_find(const struct ps_symtab *t, uint64_t address, struct ps_symbol *out);

/* Returns the i-th symbol in the order of addresses. */
struct ps_symbol ps_symtab_at(const struct ps_symtab *t, size_t i);

void ps_symtab_free(struct ps_symtab *t);

#endif
