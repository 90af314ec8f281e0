/* stack.h - the stack of a sample, and the task that it is of. */
#ifndef PP_STACK_H
#define PP_STACK_H

#include "profile/profile_internal.h"
#include "calltree/recent.h"

/* A sample's addresses, innermost first. */
struct pp_stack {
	struct pd_location *items;	/* with `recent`, pp_stack_frame() locates them */
	size_t nr;
	size_t same;	/* addresses after them: they are the outermost ones of `recent` */
	struct pp_recent *recent;	/* NULL: it is not kept */
	struct pd_moment at;
	struct pd_task task;
	bool is_cut;
	bool is_small;	/* there was no memory for the addresses */
};

/* Fills in *s, and counts what makes a stack less trustworthy. */
void pp_stack_read(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *sample,
		   const struct pp_counted_event *event, const struct pd_moment *at,
		   struct pp_stack *s);

/* Returns the frame of an item, added if it is new; PP_NONE without memory. Sets its image and file
 * offset. Must be called once for an item. */
uint32_t pp_stack_frame(struct pp_profile *p, const struct pd_fields *sample,
			const struct pp_stack *s, struct pd_location *item);

#endif
