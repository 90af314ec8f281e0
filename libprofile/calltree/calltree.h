/* calltree.h - stacks merged into a tree: a node is a frame below another node. */
#ifndef PP_CALLTREE_H
#define PP_CALLTREE_H

#include "store/index.h"

struct pp_node {
	uint32_t parent;	/* a smaller number; PP_NONE: a root */
	uint32_t frame;
	uint64_t weight, samples;	/* of stacks that end here */
};

/* Must be zero-initialized. */
struct pp_tree {
	struct pp_node *nodes;
	size_t nr, capacity;
	struct pp_index index;
};

/* Returns the node of a frame below `parent`, added if it is new; PP_NONE without memory. */
uint32_t pp_tree_child(struct pp_tree *t, struct pp_memory *m, uint32_t parent, uint32_t frame);

void pp_tree_free(struct pp_tree *t, struct pp_memory *m);

#endif
