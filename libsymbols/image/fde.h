/* fde.h - the extents of functions, as .eh_frame has them. */
#ifndef PS_IMAGE_FDE_H
#define PS_IMAGE_FDE_H

#include "image/elf_file.h"
#include "image/symtab.h"

/* Adds the extents of functions that the sealed table does not have. It must be sealed again. */
void ps_elf_add_extents(struct ps_elf *e, struct ps_symtab *t);

/* Returns the bytes of an encoded pointer of fixed size (DW_EH_PE_*) in a file with that e_ident;
 * 0: it has another one. */
unsigned int ps_encoded_width(const unsigned char *ident, uint8_t encoding);

#endif
