/* synth_kernel.h - MMAP of the kernel and its modules, or MMAP2 with their build ids. */
#ifndef RECORD_SYNTH_KERNEL_H
#define RECORD_SYNTH_KERNEL_H

#include "synth.h"

/* Nothing where addresses are hidden (kptr_restrict). */
int synth_kernel(struct pd_writer *w, const struct synth_options *o, struct pd_error *e);

#endif
