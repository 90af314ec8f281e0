/* plt.h - names for the entries of a procedure linkage table: "malloc@plt". */
#ifndef PS_IMAGE_PLT_H
#define PS_IMAGE_PLT_H

#include "base/arena.h"
#include "image/elf_file.h"
#include "image/symtab.h"

/* The first entry of aarch64. */
#define PS_PLT_ARM_PUSH 0xa9bf7bf0	/* stp x16, x30, [sp, #-16]! */
#define PS_PLT_ARM_FIRST 32		/* its bytes */

/* Returns whether the section has entries of a procedure linkage table. */
bool ps_elf_is_plt(const struct ps_section *s);

/* Adds the entries of x86-64, i386 and aarch64. Names are made in the arena. `debug` is the file
 * with the symbols, or not open. */
void ps_elf_add_plt(struct ps_elf *e, struct ps_elf *debug, struct pd_arena *names,
		    struct ps_symtab *t);

#endif
