/* go_table.h - the functions of a Go program: its runtime needs their names, so they are there when
 * the linker has left out the symbol table (-s), as "go run" has it do. */
#ifndef PS_IMAGE_GO_TABLE_H
#define PS_IMAGE_GO_TABLE_H

#include "image/elf_file.h"
#include "image/symtab.h"

/* Adds the functions in .gopclntab, as Go has written it since 1.18. Nothing, if it is damaged or
 * its place is not known. The names are borrowed until the file is closed. */
void ps_elf_add_go_functions(const struct ps_elf *e, struct ps_symtab *t);

#endif
