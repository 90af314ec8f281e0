/* rings.h - the buffers of all counters: one for each cpu, or for each thread where counters have
 * no cpu; and another for those that overwrite. */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include "base/options.h"
#include "capture/aux_area.h"
#include "capture/counter.h"
#include "capture/ring.h"

struct rings {
	struct ring *items;
	size_t n;
	struct aux_area *aux;		/* of rings that have one */
	size_t nr_aux;
	size_t bytes, aux_bytes;	/* of each */
	bool bytes_given;		/* by the user: a smaller buffer won't do */
};

/* -m. 0; or an exit status after saying what is wrong. */
int rings_size(struct rings *r, const struct settings *o, const struct logger *s);
/* Maps what the counters need and lets the others write there, too. */
int rings_map(struct rings *r, const struct counters *c, const struct event_list *l,
	      const struct settings *o);
void rings_unmap(struct rings *r);

/* Would they overflow while a disk is waited for? */
bool rings_are_small(const struct rings *r);

#endif
