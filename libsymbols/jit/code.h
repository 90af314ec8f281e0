/* code.h - code that was generated at run time, by address and time. At one time, what was written
 * last at an address counts; between two, several functions may have been there. */
#ifndef PS_JIT_CODE_H
#define PS_JIT_CODE_H

#include "base/cursor.h"
#include "image/flat.h"
#include "image/status.h"
#include "image/symtab.h"

/* A line of source code. */
struct ps_jit_line {
	uint64_t offset;	/* in the code */
	const char *file;	/* borrowed from the input */
	uint32_t line;
};

struct ps_jit_range {
	uint64_t start, end;
	uint64_t from;		/* when it was written, ns; 0: not known */
	const char *name;	/* borrowed from the input; not terminated */
	uint32_t name_size;
	uint32_t nr_lines;
	size_t first_line;	/* of ps_jit_code.lines */
	struct pd_bytes eh_frame;	/* which follows the code, at a multiple of 8; borrowed
					 * from the input; empty: none */
};

/* Must be zero-initialized, except for the budget. */
struct ps_jit_code {
	struct pd_budget *budget;
	struct ps_jit_range *ranges;
	size_t nr, capacity;
	struct ps_flat flat;		/* of all ranges */
	/* The same for halves, quarters, ... of the ranges; made on first need. */
	struct ps_flat *parts;
	size_t nr_parts;
	struct ps_jit_line *lines;	/* of each range in the order of offsets */
	size_t nr_lines, line_capacity;
	enum ps_source source;
	bool has_clock;			/* jitdump: times are of CLOCK_MONOTONIC */
	bool has_eh_frame;		/* a range has */
	uint32_t machine;		/* EM_*; 0: not known */
};

/* The code ran at one of these times, or between them. */
struct ps_jit_time {
	uint64_t earliest, latest;
};
#define PS_JIT_ANY_TIME ((struct ps_jit_time){ 0, UINT64_MAX })

enum ps_jit_found {
	PS_JIT_NOTHING,
	PS_JIT_ONE,
	PS_JIT_ONE_NAME,	/* several, one after the other, of the same name */
	PS_JIT_SEVERAL,		/* of several names, or very many: nothing tells which one ran */
};

/* Adds a range, over those before it. Returns 0, or -1 without memory. */
int ps_jit_add(struct ps_jit_code *c, const struct ps_jit_range *r);
/* Makes it searchable. Returns 0, or -1 without memory. */
int ps_jit_seal(struct ps_jit_code *c);
/* Finds the code at an address. Sets *out to the last one that was written there until
 * when.latest, unless there is nothing. May allocate. */
enum ps_jit_found ps_jit_find_range(struct ps_jit_code *c, uint64_t address,
				    struct ps_jit_time when, const struct ps_jit_range **out);
/* Returns what was at the address before the range was, or NULL. */
const struct ps_jit_range *ps_jit_before(struct ps_jit_code *c, const struct ps_jit_range *r,
					 uint64_t address);
/* The same as ps_jit_find_range(), as a symbol. */
enum ps_jit_found ps_jit_find(struct ps_jit_code *c, uint64_t address, struct ps_jit_time when,
			      struct ps_symbol *out);
/* Finds the line there if nothing but one piece of code was, or returns NULL. */
const struct ps_jit_line *ps_jit_find_line(struct ps_jit_code *c, uint64_t address,
					   struct ps_jit_time when);
void ps_jit_free(struct ps_jit_code *c);

/* Read the text of perf-PID.map, or a jitdump. The input is borrowed until ps_jit_free(). Return
 * PS_OK, PS_NOT_ELF if it is none, or PS_OVER_LIMIT; on failure nothing is left to free. Damaged
 * records are skipped, or end the reading. */
typedef enum ps_status ps_jit_reader(struct ps_jit_code *c, struct pd_bytes in,
				     struct pd_budget *budget);
ps_jit_reader ps_jit_read_perf_map, ps_jit_read_jitdump;

#endif
