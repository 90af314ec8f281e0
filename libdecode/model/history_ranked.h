/* history_ranked.h - the changes that concern the same task, or the same space, together. */
#ifndef PD_MODEL_HISTORY_RANKED_H
#define PD_MODEL_HISTORY_RANKED_H

#include "model/history.h"

#define PD_NO_KEY UINT64_MAX
#define PD_KEY_GROUPS 2048	/* what is above the lower half of a key is less */

/* Ranks ordered by key, and those of the same key by rank. */
struct pd_ranked {
	uint64_t *items;	/* the lower half of the key, and the rank */
	uint32_t nr;
};

/* Orders the changes that have a key: key_of() returns that of a rank, or PD_NO_KEY. Returns 0, or
 * -1 without memory. Free them with pd_ranked_free(). */
int pd_ranked_make(struct pd_history *h, struct pd_ranked *r,
		   uint64_t (*key_of)(const struct pd_history *h, uint32_t rank));
void pd_ranked_free(struct pd_history *h, struct pd_ranked *r);

static inline uint32_t pd_ranked_at(const struct pd_ranked *r, uint32_t i)
{
	return (uint32_t)r->items[i];
}

#endif
