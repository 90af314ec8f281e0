/* synth_kernel.h - MMAP of the kernel and its modules. */
#ifndef RECORD_SYNTH_KERNEL_H
#define RECORD_SYNTH_KERNEL_H

#include "pd/write.h"

/* Nothing where addresses are hidden (kptr_restrict). */
int synth_kernel(struct pd_writer *w, int event, struct pd_error *e);

#endif
