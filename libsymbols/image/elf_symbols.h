/* elf_symbols.h - the functions and variables that the symbol tables of an ELF file name. */
#ifndef PS_IMAGE_ELF_SYMBOLS_H
#define PS_IMAGE_ELF_SYMBOLS_H

#include "image/elf_file.h"
#include "image/symtab.h"

enum ps_symbols_of {
	PS_FUNCTIONS,
	PS_VARIABLES,
	PS_CHOSEN,	/* functions whose code another one chooses when the program starts: the
			 * symbol has the address of that one */
};

/* Adds symbols of a table: type is SHT_SYMTAB or SHT_DYNSYM. Returns whether the file has it. Names
 * are borrowed from the file. */
bool ps_elf_add_symbols(struct ps_elf *e, uint32_t type, enum ps_symbols_of of,
			enum ps_source source, struct ps_symtab *t);

/* Finds the value of a symbol of any kind in .symtab. Returns false if it is not there. */
bool ps_elf_symbol_value(struct ps_elf *e, const char *name, uint64_t *value);

/* Finds the extent of a function by its name in .symtab. Returns false if it has no size, or if not
 * exactly one has the name. */
bool ps_elf_only_function(struct ps_elf *e, struct pd_bytes name, uint64_t *start, uint64_t *end);

/* A string table: names that do not end in it are not used. */
struct ps_names {
	const char *data;
	size_t end;		/* after the last NUL */
};
struct ps_names ps_elf_names(const struct ps_elf *e, size_t section);
/* Returns NULL for an offset outside of the table. */
const char *ps_elf_name(const struct ps_names *names, uint64_t offset);

#endif
