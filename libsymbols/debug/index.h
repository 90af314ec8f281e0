/* index.h - inlined functions and lines of an image, by address. Units are read when an address
 * first hits them. */
#ifndef PS_DEBUG_INDEX_H
#define PS_DEBUG_INDEX_H

#include "debug/unit.h"
#include "image/elf_file.h"

/* Finds the other file of a split unit. */
struct ps_split_finder {
	/* Opens *out by ps_split_open(). Returns whether it was found. */
	bool (*find)(void *ctx, const struct ps_skeleton *k, struct ps_split *out);
	void *ctx;
};

struct ps_debug {
	struct pd_budget *budget;
	struct ps_elf *file;
	struct ps_split_finder finder;	/* set after ps_debug_open(); NULL: functions of split
					 * units are left out */
	Dwarf *dwarf, *alt;
	bool is_partial;		/* sections could not be expanded */
	uint64_t first_code;		/* the lowest address of code */
	struct pd_bytes addresses, ranges;	/* .debug_addr, .debug_ranges; empty: none */
	size_t charged;			/* for sections that libdw expands */
	struct pd_arena arena;
	struct ps_debug_unit *units;
	size_t nr_units, unit_capacity;
	struct ps_flat by_address;	/* -> index of the unit */
};

enum ps_debug_depth { PS_DEBUG_FUNCTIONS, PS_DEBUG_LINES };

/* A function at an address, as addr2line -i shows it. */
struct ps_debug_frame {
	const char *name;	/* mangled; NULL: unknown */
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	bool is_inlined;	/* into the next frame */
};

/* Returns the section .debug_NAME, or .zdebug_NAME, which is an older form of it; NULL: none. */
const struct ps_section *ps_debug_section(const struct ps_elf *file, const char *name);

/* Opens the debug information of the file, which is borrowed until ps_debug_close(). `alt` is the
 * supplementary file that dwz(1) made, or NULL; `depth` is the most that will be asked for.
 * Returns PS_NOT_ELF if it has none, PS_BAD_FILE if
 * it can't be read: a file whose bytes are not writable must not have compressed sections, nor be
 * relocatable. On failure nothing is left to close. */
enum ps_status ps_debug_open(struct ps_debug *d, struct ps_elf *file, struct ps_elf *alt,
			     enum ps_debug_depth depth, struct pd_budget *budget);
void ps_debug_close(struct ps_debug *d);

/* Finds the functions at an address, innermost first: at most `max`, the outermost is left out
 * first. Returns their number, 0 if there is no debug information for the address, or -1 without
 * memory. Strings are borrowed until ps_debug_close(). */
int ps_debug_find(struct ps_debug *d, uint64_t address, enum ps_debug_depth depth,
		  struct ps_debug_frame *out, int max);

#endif
