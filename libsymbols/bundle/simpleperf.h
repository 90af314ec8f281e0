/* simpleperf.h - features SIMPLEPERF_FILE and SIMPLEPERF_FILE2: the symbols that simpleperf found
 * on the device, of functions that were hit. */
#ifndef PS_BUNDLE_SIMPLEPERF_H
#define PS_BUNDLE_SIMPLEPERF_H

#include "base/arena.h"
#include "image/symtab.h"

/* How the entries are written. */
enum ps_simpleperf_form {
	PS_SIMPLEPERF_PLAIN,		/* SIMPLEPERF_FILE: numbers and texts in a row */
	PS_SIMPLEPERF_PROTOBUF,		/* SIMPLEPERF_FILE2 */
};

enum ps_simpleperf_kind {
	PS_SIMPLEPERF_KERNEL,
	PS_SIMPLEPERF_MODULE,
	PS_SIMPLEPERF_ELF,
	PS_SIMPLEPERF_DEX,
};

#define PS_NO_MIN_OFFSET UINT64_MAX

struct ps_simpleperf_file {
	struct pd_bytes path;
	uint64_t kind;			/* enum ps_simpleperf_kind, or another */
	uint64_t min_vaddr;		/* where its code begins, as an address of its symbols */
	uint64_t min_offset;		/* the same in the file, or in the memory of a module; or
					 * PS_NO_MIN_OFFSET */
	struct ps_symtab symbols;	/* of the kernel: as they were at run time */
};

/* Reads a section, of any byte order. Texts are borrowed from it, the array is in the arena. Sets
 * *n. Damaged entries are left out. Free the symbols with ps_simpleperf_free(). */
struct ps_simpleperf_file *ps_simpleperf_read(struct pd_bytes section,
					      enum ps_simpleperf_form form,
					      struct pd_arena *arena, size_t *n);
void ps_simpleperf_free(struct ps_simpleperf_file *files, size_t n);

#endif
