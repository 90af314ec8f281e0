/* page_times.h - an event's samples in the page, one by one: when each thread was where. */
#ifndef PP_PAGE_TIMES_H
#define PP_PAGE_TIMES_H

#include "page/joined.h"
#include "page/packing.h"

/* More samples than this are thinned: of some of a thread in a row one stands for all. */
enum { PP_PAGE_SAMPLES = 1000000 };	/* of all events */

struct pp_page_times {
	struct pp_profile *p;
	size_t event;
	uint64_t *counts;	/* samples of each track that are the event's */
	uint64_t nr;		/* of them all */
	const struct pp_joined *j;
	const uint32_t *order;	/* the number of each of its nodes in the page */
	uint64_t step;		/* samples for each that is written; 0: there are no times */
};

/* Counts the samples, `step` is left at 0. Returns 0, or -1 without memory. */
int pp_page_times_init(struct pp_page_times *t, struct pp_profile *p, size_t event);
void pp_page_times_free(struct pp_page_times *t);
/* Adds [name, pid, tid, samples] for each thread that has samples, as JSON. */
void pp_pack_threads(struct pp_packing *k, const struct pp_page_times *t);
/* Writes their samples: us since the one before, node, weight. `order` must be set. */
void pp_put_samples(struct pp_out *out, const struct pp_page_times *t);

#endif
