/* synth_kernel.h - MMAP of the kernel and its modules, or MMAP2 with their build ids. */
#ifndef RECORD_SYNTH_KERNEL_H
#define RECORD_SYNTH_KERNEL_H

#include "synth/synth.h"

struct kernel_text {
	uint64_t text, stext;		/* _text, _stext: after its header on some machines */
	uint64_t end;			/* _etext */
};

/* Reads the addresses from kallsyms, `end` only if it is needed. False: they are hidden. */
bool kernel_text_read(struct kernel_text *k, bool need_end);

/* Nothing where addresses are hidden (kptr_restrict). */
int synth_kernel(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		 struct pd_error *e);

#endif
