/* go_table.h - the functions of a Go program: its runtime needs their names and frames, so they are
 * there when the linker has left out the symbol table and debug information (-s -w), as most
 * programs are shipped.
 */
#ifndef PS_IMAGE_GO_TABLE_H
#define PS_IMAGE_GO_TABLE_H

#include "image/elf_file.h"
#include "image/symtab.h"

struct ps_go_table {
	struct pd_bytes bytes;		/* .gopclntab */
	enum pd_swap swap;
	unsigned int width;		/* of a word */
	uint64_t quantum;		/* in which lengths of code are counted */
	bool has_lines;			/* a _func has startLine: since Go 1.20 */
	uint64_t nr, names, values, functions;
	uint64_t text;			/* address to which functions are relative */
};

/* Opens the table, as Go has written it since 1.18. Returns false if there is none, it is damaged
 * or its place is not known. */
bool ps_go_table_open(const struct ps_elf *e, struct ps_go_table *g);

/* Reads where the i-th function begins, relative to `text`; i may be g->nr. */
bool ps_go_table_start(const struct ps_go_table *g, uint64_t i, uint64_t *out);

/* Reads a number of the i-th function's _func. */
bool ps_go_table_number(const struct ps_go_table *g, uint64_t i, unsigned int at,
			unsigned int width, uint64_t *out);

/* Adds the functions in the table. The names are borrowed until the file is closed. */
void ps_elf_add_go_functions(const struct ps_elf *e, struct ps_symtab *t);

#endif
