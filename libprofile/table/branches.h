/* branches.h - calls as an indented tree, heaviest first. */
#ifndef PP_BRANCHES_H
#define PP_BRANCHES_H

#include "encoding/out.h"

struct pp_branches {
	struct pp_out *out;
	struct pp_merged *nodes;
	uint64_t all;		/* 100 % */
	unsigned int min_permyriad;	/* smaller shares of `all` are left out */
	unsigned int indent;	/* columns */
	bool is_upward;		/* who calls: no stack ends there */
};

/* Writes a node, its siblings, and all below; PP_NONE: nothing. A chain of single calls is one
 * line. Returns 0, or -1 without memory. */
int pp_branches_put(const struct pp_branches *b, uint32_t first);

#endif
