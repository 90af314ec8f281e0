/* cfi.h - the call frame information of an image, through libdw.
 *
 * Threads: any number may ask for rows; a lock in the handle serves them one by one.
 */
#ifndef PS_UNWIND_CFI_H
#define PS_UNWIND_CFI_H

#include <pthread.h>

#include "base/arena.h"
#include "image/elf_file.h"
#include "image/symtab.h"
#include "unwind/end.h"
#include "unwind/row.h"
#include "unwind/rows.h"

struct ps_cfi;

/* Takes .eh_frame from the image, which is borrowed until ps_cfi_free(). Memory that libdw
 * allocates is not charged. Returns NULL if the budget or malloc refuses. An image without CFI has
 * a handle, too. */
struct ps_cfi *ps_cfi_new(struct ps_elf *image, struct pd_budget *budget);

/* Takes .debug_frame, if there is one, from the image or its debug file, which may be closed
 * afterwards. No other thread may use the file, or the budget of the handle, in the meantime. */
void ps_cfi_add_debug_frame(struct ps_cfi *c, const struct ps_elf *file);

/* Finds the file with .debug_frame, which only addresses need that .eh_frame does not have. */
struct ps_frame_finder {
	/* May call ps_cfi_add_debug_frame(). Is called at most once, by ps_cfi_row(), while other
	 * threads wait for rows. */
	void (*find)(void *ctx, struct ps_cfi *c);
	void *ctx;
};
void ps_cfi_set_finder(struct ps_cfi *c, const struct ps_frame_finder *finder);

/* Where functions begin, for code without CFI. The table is sealed, and borrowed. */
void ps_cfi_set_functions(struct ps_cfi *c, const struct ps_symtab *functions);

/* Makes a row by the instructions of a function, whatever its CFI says. Returns false if that is
 * not known. */
bool ps_cfi_row_of_code(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
			struct ps_row *out);

/* Addresses, and how far the virtual ones of their images are from them. */
struct ps_code_place {
	struct ps_cfi *cfi;
	uint64_t addr, bias;
};

/* Returns whether a return address follows a call that may have led to a place in code without
 * CFI; also where that is not known. NULL: to any place. */
bool ps_cfi_may_call(const struct ps_code_place *from, const struct ps_code_place *to);

/* Makes a handle with rows that a recording has, which are borrowed. Their addresses are used in
 * place of virtual ones. */
struct ps_cfi *ps_cfi_given(const struct ps_given_rows *given, struct pd_budget *budget);

/* Keeps the rows that are asked for from now on, in memory of the arena, which is used under the
 * lock of `keeper` only; as far as there is memory. */
struct ps_row_keeper {
	pthread_mutex_t lock;
	struct pd_arena arena;
};
void ps_cfi_keep_asked(struct ps_cfi *c, struct ps_row_keeper *keeper);
/* Returns what was kept, in any order; a row may be there more than once. */
const struct ps_asked_row *ps_cfi_asked(const struct ps_cfi *c);

void ps_cfi_free(struct ps_cfi *c);

/* Finds the row for a virtual address. Returns PS_END_NONE, PS_END_NO_CFI, PS_END_BAD_CFI, or
 * PS_END_LIMIT if libdw was refused memory; PS_END_NO_FILE if a given handle has no row there. */
enum ps_end ps_cfi_row(struct ps_cfi *c, const struct ps_arch *arch, uint64_t vaddr,
		       struct ps_row *out);

#endif
