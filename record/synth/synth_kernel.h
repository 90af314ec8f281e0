/* synth_kernel.h - maps of the kernel and its modules: MMAP, or MMAP2 with build ids. */
#ifndef RECORD_SYNTH_KERNEL_H
#define RECORD_SYNTH_KERNEL_H

#include "synth/synth.h"

struct kernel_text {
	uint64_t text, stext;		/* _text; _stext, which follows a header on some machines */
	uint64_t end;			/* _etext */
};

/* The end is far down in kallsyms. */
enum kernel_text_part { KERNEL_TEXT_START, KERNEL_TEXT_START_AND_END };

/* Reads the addresses from kallsyms. Returns false if they are hidden. */
bool kernel_text_read(struct kernel_text *k, enum kernel_text_part part);

/* Writes nothing if addresses are hidden (kptr_restrict). Returns 0, or -1 and *e. */
int synth_kernel(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		 struct pd_error *e);

#endif
