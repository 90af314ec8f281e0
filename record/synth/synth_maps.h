/* synth_maps.h - MMAP2 records of a process. */
#ifndef RECORD_SYNTH_MAPS_H
#define RECORD_SYNTH_MAPS_H

#include "base/proc_task.h"
#include "synth/synth.h"

struct synth_maps;

/* Caches build ids. Borrows all arguments. Returns NULL without memory. */
struct synth_maps *synth_maps_new(struct pd_writer *w, const struct synth_options *o,
				  struct synth_report *report, int proc, struct pd_error *e);
int synth_maps_write(struct synth_maps *s, const struct task *t);
void synth_maps_free(struct synth_maps *s);	/* NULL is fine */

#endif
