/* code.h - code that was generated at run time, by address: what was written last at an address
 * counts. */
#ifndef PS_JIT_CODE_H
#define PS_JIT_CODE_H

#include "image/flat.h"
#include "image/status.h"
#include "image/symtab.h"

struct ps_jit_range {
	uint64_t start, end;
	const char *name;	/* borrowed from the input; not terminated */
	uint32_t name_size;
};

/* Must be zero-initialized, except for the budget. */
struct ps_jit_code {
	struct pd_budget *budget;
	struct ps_jit_range *ranges;
	size_t nr, capacity;
	struct ps_flat flat;
	enum ps_source source;
};

/* Adds a range, over those before it. Returns 0, or -1 without memory. */
int ps_jit_add(struct ps_jit_code *c, const struct ps_jit_range *r);
/* Makes it searchable. Returns 0, or -1 without memory. */
int ps_jit_seal(struct ps_jit_code *c);
bool ps_jit_find(const struct ps_jit_code *c, uint64_t address, struct ps_symbol *out);
void ps_jit_free(struct ps_jit_code *c);

/* Read the text of perf-PID.map, or a jitdump. The input is borrowed until ps_jit_free(). Return
 * PS_OK, PS_NOT_ELF if it is none, or PS_OVER_LIMIT; on failure nothing is left to free. What is
 * damaged is passed over or ends it. */
enum ps_status ps_jit_read_perf_map(struct ps_jit_code *c, struct pd_bytes text,
				    struct pd_budget *budget);
enum ps_status ps_jit_read_jitdump(struct ps_jit_code *c, struct pd_bytes in,
				   struct pd_budget *budget);

#endif
