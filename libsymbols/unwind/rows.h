/* rows.h - rows of call frame information that travel in a recording, for machines without the
 * files.
 *
 * The bytes of a row, in little-endian order:
 *   u8 kind: enum ps_row_kind; nothing follows NO_CFI and BAD_CFI
 *   the location of the CFA, then those of registers that differ from what a call leaves:
 *   u8 register, except for the CFA; u8 where: enum ps_where; and as `where` has it
 *     _CFA: s32 offset      IN_REGISTER: u8 register, s32 offset
 *     _EXPRESSION: u8 count, and for each operation u8 atom, u64 number, u64 number2
 */
#ifndef PS_UNWIND_ROWS_H
#define PS_UNWIND_ROWS_H

#include "base/cursor.h"
#include "unwind/end.h"
#include "unwind/row.h"

enum ps_row_kind {
	PS_ROW_OF_CALL, PS_ROW_OF_SIGNAL, PS_ROW_NO_CFI, PS_ROW_BAD_CFI,
	PS_ROW_OF_CODE,		/* of a call; without CFI */
};

#define PS_ROW_BYTES_MAX 1024

/* Writes a row, or why there is none, to `out`. Returns the number of bytes, 0 if it can't be
 * written. */
size_t ps_row_encode(const struct ps_row *row, enum ps_end end, const struct ps_arch *arch,
		     uint8_t out[PS_ROW_BYTES_MAX]);

/* Reads a row. Returns PS_END_NONE, or why there is none: PS_END_BAD_CFI if the bytes are
 * damaged. */
enum ps_end ps_row_decode(struct pd_bytes bytes, const struct ps_arch *arch, struct ps_row *out);

/* Rows by address, as a recording has them. */
struct ps_given_rows {
	const uint64_t *addresses;	/* sorted */
	const uint32_t *rows;		/* by address: index in items */
	size_t nr;
	const struct pd_bytes *items;
};

/* Finds the bytes of the row at an address. Returns false if there is none. */
bool ps_given_row_find(const struct ps_given_rows *given, uint64_t address, struct pd_bytes *out);

/* A row that was asked for. */
struct ps_asked_row {
	struct ps_asked_row *next;
	uint64_t vaddr;
	struct pd_bytes bytes;
};

#endif
