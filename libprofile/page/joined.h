/* joined.h - one event's tree of functions, and perhaps that of an older recording, as one tree.
 *
 * With an older recording functions are the same if their names and the last parts of their images'
 * paths are, threads if their names differ in digits only: so that runs and builds compare.
 */
#ifndef PP_JOINED_H
#define PP_JOINED_H

#include "encoding/out.h"

struct pp_joined_function {
	const struct pp_profile *of;
	uint32_t number;	/* in that profile */
	uint32_t name, image;	/* strings of the newer profile; PP_NONE: not joined */
};

struct pp_before {
	uint64_t weight, samples;
};

/* Must be zero-initialized, but for `places`. */
struct pp_joined {
	struct pp_tree tree;		/* frames are numbers of functions */
	struct pp_before *before;	/* of each node; NULL: there is no older recording */
	size_t before_capacity;
	struct pp_joined_function *functions;
	size_t nr_functions, functions_capacity;
	struct pp_index index;
	uint32_t *first_child, *next;	/* of each node; PP_NONE: none */
	uint32_t *places;	/* borrowed, room for all merged nodes of the newer profile: the
				 * node of each of the event's; events can share it */
};

/* Fills in *j. `base` may be NULL. Returns 0, or -1 without memory; pp_joined_free() is
 * due in any case. */
int pp_join(struct pp_joined *j, struct pp_profile *p, size_t event, struct pp_profile *base,
	    size_t base_event);
void pp_joined_free(struct pp_joined *j, struct pp_memory *m);

/* Returns the node after `at`, parents before children, or PP_NONE. */
static inline uint32_t pp_joined_next(const struct pp_joined *j, uint32_t at)
{
	if (j->first_child[at] != PP_NONE)
		return j->first_child[at];
	while (at && j->next[at] == PP_NONE)
		at = j->tree.nodes[at].parent;
	return at ? j->next[at] : PP_NONE;
}

#endif
