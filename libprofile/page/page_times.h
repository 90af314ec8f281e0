/* page_times.h - an event's samples in the page, one by one: when each thread was where. */
#ifndef PP_PAGE_TIMES_H
#define PP_PAGE_TIMES_H

#include "page/joined.h"
#include "page/packing.h"
#include "profile/parts.h"

/* More samples than this are thinned: of some of a thread in a row one stands for all. */
enum { PP_PAGE_SAMPLES = 1000000 };	/* of all events */

struct pp_page_times {
	const struct pp_parts *parts;
	size_t first, end;	/* of the parts: those of the event */
	uint64_t nr;		/* samples of them all */
	const struct pp_joined *j;
	const uint32_t *order;	/* the number of each of its nodes in the page */
	uint64_t step;		/* samples for each that is written; 0: there are no times */
};

/* Counts the samples of an event; `step` is left at 0. */
void pp_page_times_init(struct pp_page_times *t, const struct pp_parts *parts, size_t event);
/* Adds [name, pid, tid, samples] for each thread that has samples, as JSON. */
void pp_pack_threads(struct pp_packing *k, const struct pp_page_times *t);
/* Writes their samples: us since the one before, node, weight. `order` must be set. */
void pp_put_samples(struct pp_out *out, const struct pp_page_times *t);

#endif
