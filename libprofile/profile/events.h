/* events.h - the events of a profile: each is a root of the tree. */
#ifndef PP_EVENTS_H
#define PP_EVENTS_H

#include "profile/profile_internal.h"

/* Adds an event. Returns its number, or PP_NONE without memory. */
uint32_t pp_events_add(struct pp_profile *p, const struct pp_weigher *w);

/* Returns the event of an attribute, added if it is new; NULL without memory. */
struct pp_counted_event *pp_events_of(struct pp_profile *p, struct pd_reader *r,
				      const struct pd_attr *a);

/* Returns the event of another profile of the same recording, added if it is new; PP_NONE without
 * memory. */
uint32_t pp_events_take(struct pp_profile *p, const struct pp_counted_event *other);

/* Adds a sample to a node of an event; PP_NONE: to "[small]". Returns 0, or -1 when the sum does
 * not fit into 64 bits. */
int pp_events_weigh(struct pp_profile *p, uint32_t event, uint32_t node, uint64_t weight);

#endif
