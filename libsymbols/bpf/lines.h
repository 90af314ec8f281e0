/* lines.h - source lines of BPF programs, from features BPF_PROG_INFO and BPF_BTF of a recording:
 * no other file is needed. */
#ifndef PS_BPF_LINES_H
#define PS_BPF_LINES_H

#include <stdbool.h>

#include "base/arena.h"
#include "pd/pd.h"

struct ps_bpf_line {
	uint64_t address;
	uint32_t instruction;	/* orders lines of the same address: the last counts */
	uint32_t line;
	uint32_t file;		/* offset in the strings of the program's BTF */
};

struct ps_bpf_program {
	struct pd_bytes strings;	/* of its BTF, followed by a NUL */
	struct ps_bpf_line *lines;	/* sorted */
	size_t nr;
};

/* Machine code of a program has several functions, at places of their own. */
struct ps_bpf_function {
	uint64_t start, size;
	uint64_t tag;		/* hash of its instructions, as KSYMBOL has it in its name */
	const struct ps_bpf_program *program;
};

/* Must be zero-initialized, except for the arena. */
struct ps_bpf {
	struct pd_arena *arena;
	struct ps_bpf_function *functions;	/* sorted by start and tag */
	size_t nr;
};

/* Reads the features. Without memory, and where they are damaged, there are fewer lines. */
void ps_bpf_read(struct ps_bpf *b, struct pd_reader *r);

/* Finds the line of an address in the function that starts at `start`, whose KSYMBOL has the name.
 * Sets *file, valid as long as the arena, or to NULL. Returns NULL if there is none. */
const struct ps_bpf_line *ps_bpf_find(const struct ps_bpf *b, uint64_t start, const char *name,
				      uint64_t address, const char **file);

#endif
