/* rings.h - the ring buffers of all counters: one for each CPU, or for each thread if counters have
 * no CPU; counters that overwrite have separate ones. */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include "base/options.h"
#include "capture/aux_area.h"
#include "capture/counter.h"
#include "capture/ring.h"

struct rings {
	struct ring *items;
	size_t n;
	struct aux_area *aux;		/* of the rings that have one */
	size_t nr_aux;
	size_t bytes, aux_bytes;	/* of each */
	bool bytes_given;		/* by the user: a smaller buffer is no fallback */
	uint64_t flush;			/* --mmap-flush; a buffer with fewer bytes can wait */
};

/* Reads -m and --mmap-flush. Returns 0, or an exit status after logging the error. */
int rings_size(struct rings *r, const struct settings *o, const struct logger *s);
/* Maps the rings and redirects all counters to them. Returns 0, or an exit status after logging the
 * error. */
int rings_map(struct rings *r, const struct counters *c, const struct event_list *l,
	      const struct settings *o);
void rings_unmap(struct rings *r);

/* Returns how many bytes make a ring worth draining: at most a quarter of it, or it would overflow
 * first. That is perf's limit, too. */
static inline uint64_t rings_worthwhile(const struct rings *r)
{
	return r->flush < r->bytes / 4 ? r->flush : r->bytes / 4;
}

/* Returns whether rings may overflow during a write to a disk. */
bool rings_are_small(const struct rings *r);

#endif
