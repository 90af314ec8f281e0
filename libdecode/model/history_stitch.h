/* history_stitch.h - longer call stacks than a CPU keeps: the oldest calls of a thread's sample are
 * added to its next one, if nothing between them returned from these calls. */
#ifndef PD_MODEL_HISTORY_STITCH_H
#define PD_MODEL_HISTORY_STITCH_H

#include "model/history.h"

#define PD_STITCH_REGISTERS_MAX 1024	/* of a CPU */

/* A call that a sample's own branches no longer have. */
struct pd_stitched_call {
	const struct pd_stitched_call *next;	/* the one before it, or NULL */
	uint64_t from;
};

struct pd_stitcher;

/* Returns what stitches the samples of a sealed history, or NULL without memory. `registers`: how
 * many branches the CPU keeps. It is freed with the history. */
struct pd_stitcher *pd_stitcher_new(struct pd_history *h, uint32_t registers, uint32_t max_calls);
void pd_stitcher_free(struct pd_stitcher *s);

/* Takes a sample with a call stack in branches; they must come by time. Returns 0, or -1 without
 * memory. */
int pd_stitcher_add(struct pd_stitcher *s, const struct pd_record *sample);

/* Returns the calls to add to a sample, innermost first, or NULL. Sets *max to the number
 * of calls that its stack may then have. */
const struct pd_stitched_call *pd_stitcher_find(const struct pd_stitcher *s,
						const struct pd_record *sample, uint32_t *max);

#endif
