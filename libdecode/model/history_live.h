/* history_live.h - a history of a live stream: what is so now. It applies each change when it is
 * learned, and forgets tasks some time after they ended. */
#ifndef PD_MODEL_HISTORY_LIVE_H
#define PD_MODEL_HISTORY_LIVE_H

#include "model/history_ranges.h"

struct pd_live;

struct pd_live *pd_live_new(struct pd_history *h);
void pd_live_free(struct pd_live *l);

/* Takes the moment of a record of any type, after it was learned: it may be too late. */
void pd_live_see(struct pd_history *h, const struct pd_record *r);
/* Applies the changes that were learned last, and removes them from the list. Returns 0, or -1
 * without memory. */
int pd_live_apply(struct pd_history *h);
/* Removes changes that could not be learned, and makes room. */
void pd_live_drop(struct pd_history *h);

/* Returns what is mapped in a space now, NULL for nothing; *is_known: whether the space is. */
const struct pd_mapped *pd_live_space(const struct pd_live *l, uint64_t key, bool *is_known);
/* See pd_history_task(). */
bool pd_live_task(const struct pd_history *h, uint8_t machine, int32_t pid, int32_t tid,
		  struct pd_task *out);
/* Adds the totals of a live history. */
void pd_live_count(const struct pd_history *h, struct pd_history_counts *out);

#endif
