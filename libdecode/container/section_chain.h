/* section_chain.h - the sections of features, each of which begins where the one before ends. */
#ifndef PD_CONTAINER_SECTION_CHAIN_H
#define PD_CONTAINER_SECTION_CHAIN_H

#include "container/sections.h"

struct pd_section_chain {
	struct pd_section list[PD_FEATURE_BITS];
	size_t n;
	uint64_t begin, end;	/* the end of the tables, and of the file */
};

/* A number that breaks the chain. */
struct pd_chain_break {
	size_t index;		/* of the section */
	enum { PD_BREAK_OFFSET, PD_BREAK_SIZE } number;
	uint64_t right;		/* with it, the chain is whole from there on */
};

/* Finds the only wrong number of a chain. Returns false if there is none, or if no single one
 * makes it whole. */
bool pd_section_chain_find(const struct pd_section_chain *c, struct pd_chain_break *out);

/* Returns whether three sections or more are a chain of which at most one number is wrong. It may
 * begin somewhat after `begin`: perf leaves room for features that it does not write in the end. */
bool pd_section_chain_is_there(const struct pd_section_chain *c);

#endif
