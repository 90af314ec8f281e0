/* cfi.h - the call frame information of an image, through libdw.
 *
 * Threads: any number may ask for rows; a lock in the handle serves them one by one.
 */
#ifndef PS_UNWIND_CFI_H
#define PS_UNWIND_CFI_H

#include "image/elf_file.h"
#include "unwind/end.h"
#include "unwind/row.h"

struct ps_cfi;

/* Takes .eh_frame from the image, and .debug_frame from `debug`: the image's own, or that of its
 * debug file; may be NULL. Both are borrowed until ps_cfi_free(). Memory that libdw allocates is
 * not charged. Returns NULL if the budget or malloc refuses. An image without CFI has a handle,
 * too. */
struct ps_cfi *ps_cfi_new(struct ps_elf *image, Dwarf *debug, struct pd_budget *budget);
void ps_cfi_free(struct ps_cfi *c);

/* Finds the row for a virtual address. Returns PS_END_NONE, PS_END_NO_CFI or PS_END_BAD_CFI. */
enum ps_end ps_cfi_row(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
		       struct ps_row *out);

#endif
