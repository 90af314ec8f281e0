/* cfi_section.h - a section of call frame information, checked before libdw executes it.
 *
 * libdw stays within the section, but a program of a few bytes can make it allocate gigabytes
 * (registers by number, states remembered without limit), and its time for a row grows with the
 * program. An FDE that goes beyond these limits is refused here. So is one that overlaps others:
 * which of them libdw finds depends on what it was asked before.
 */
#ifndef PS_UNWIND_CFI_SECTION_H
#define PS_UNWIND_CFI_SECTION_H

#include <elfutils/libdw.h>

#include "base/cursor.h"
#include "image/elf_file.h"

#define PS_CFI_REGISTERS 256		/* register numbers below it may be named */
#define PS_CFI_REMEMBERED 8		/* states */
#define PS_CFI_PROGRAM (64u << 10)	/* bytes of an FDE's program */
#define PS_CFI_INITIAL 1024		/* bytes of a CIE's, which is checked with each FDE */

/* Addresses that an FDE covers. */
struct ps_cfi_extent {
	uint64_t start, size;
};

struct ps_cfi_section {
	struct pd_budget *budget;
	const unsigned char *ident;	/* e_ident of its file */
	struct pd_bytes bytes;
	uint64_t vaddr;
	enum { PS_EH_FRAME, PS_DEBUG_FRAME } kind;
	/* Sorted table of .eh_frame_hdr; empty: libdw reads the section from its start. */
	struct pd_bytes index;
	uint64_t index_vaddr;
	bool scan;		/* libdw may read any FDE: all are checked first */
	struct pd_buf clashes;	/* then: struct ps_cfi_extent where FDEs overlap, sorted */
};

static inline enum pd_swap ps_cfi_swap(const struct ps_cfi_section *s)
{
	const bool big = s->ident[EI_DATA] == ELFDATA2MSB;

	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? PD_SWAP_NO : PD_SWAP_YES;
}

/* Finds .eh_frame and its table as libdw's dwarf_getcfi_elf() does. Returns false if there is
 * none, or it is in a form that linkers do not write. */
bool ps_cfi_find_eh_frame(struct ps_elf *image, struct ps_cfi_section *out);

/* Finds .debug_frame in the file of the handle. */
bool ps_cfi_find_debug_frame(Dwarf *debug, struct pd_budget *budget, struct ps_cfi_section *out);

void ps_cfi_section_close(struct ps_cfi_section *s);

/* Checks all FDEs of a section that is read from its start. Returns false if one is bad, or without
 * memory. */
bool ps_cfi_check_all(struct ps_cfi_section *s);

/* Returns whether FDEs overlap at an address of a section that is read from its start. */
bool ps_cfi_clashes(const struct ps_cfi_section *s, uint64_t vaddr);

/* An entry of the table: where an FDE is, and the addresses that it may be for. */
struct ps_cfi_entry {
	uint64_t offset, start, end;
};

/* Finds the entry for an address. Returns false if there is none. */
bool ps_cfi_search(const struct ps_cfi_section *s, uint64_t vaddr, struct ps_cfi_entry *out);

/* Returns whether libdw may execute the FDE at this offset. */
bool ps_cfi_check_fde(const struct ps_cfi_section *s, uint64_t offset, struct ps_cfi_extent *out);

#endif
