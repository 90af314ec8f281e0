/* cache.h - what an unwinder keeps: places of addresses, rules, and rows that are no rules. */
#ifndef PS_UNWIND_CACHE_H
#define PS_UNWIND_CACHE_H

#include "base/arena.h"
#include "unwind/rule.h"
#include "unwind/unwind.h"

#define PS_PLACE_SETS 16	/* by generation */
#define PS_PLACE_WAYS 8
#define PS_MAX_ROWS 4096

struct ps_kept_place {
	uint64_t generation;	/* 0: free */
	struct ps_place place;
};

struct ps_cache {
	struct pd_budget *budget;
	struct ps_rule *rules;
	unsigned int bits;	/* 2^bits rules */
	struct ps_kept_place places[PS_PLACE_SETS][PS_PLACE_WAYS];
	unsigned int next_way[PS_PLACE_SETS];	/* to be replaced */
	const struct ps_row **rows;	/* in `memory`; numbers in rules of kind ROW */
	size_t nr_rows;
	struct pd_arena memory;
	struct ps_row scratch;	/* the row that was read last */
};

/* Returns false if the budget or malloc refuses. */
bool ps_cache_open(struct ps_cache *c, struct pd_budget *budget, unsigned int bits);
void ps_cache_close(struct ps_cache *c);

/* Finds where an address lies; valid until the next call. `none` is used where nothing may be
 * kept. */
const struct ps_place *ps_cache_place(struct ps_cache *c, const struct ps_copied_stack *in,
				      uint64_t address, struct ps_place *none);

enum ps_detail { PS_ANY_RULE, PS_ALL_REGISTERS };

/* Finds the rule for a virtual address in a place that has CFI. With PS_ALL_REGISTERS it is one
 * that drops nothing. Valid until the next call. */
const struct ps_rule *ps_cache_rule(struct ps_cache *c, const struct ps_arch *arch,
				    const struct ps_place *place, uint64_t vaddr,
				    enum ps_detail detail);

/* Returns the row of a rule of kind ROW. Valid until the next call of ps_cache_rule(). */
const struct ps_row *ps_cache_row(const struct ps_cache *c, const struct ps_rule *rule);

#endif
