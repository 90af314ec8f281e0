/* names.h - feature PD_SYMBOLS: the functions at the addresses that were hit, for machines without
 * the files. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdbool.h>

#include "base/deadline.h"
#include "base/file_names.h"
#include "base/held_files.h"
#include "pd/symbols.h"
#include "recording/symbols.h"

/* Whether samples have copied stacks, which are unwound. */
enum names_stacks { NAMES_WITHOUT_STACKS, NAMES_WITH_STACKS };

struct names_options {
	uint64_t began;			/* the recording, in s since 1970 */
	enum ps_clock clock;
	uint64_t moment, moment_monotonic;	/* on both clocks, in ns; 0: not known */
	enum names_stacks stacks;
	enum ps_depth depth;		/* PS_INLINES or PS_LINES */
	/* Names are left out that are not found within this CPU time, or until the deadline: on a
	 * machine that has other work, the time that it takes is not the collector's. */
	unsigned int cpu_ms;
	struct deadline deadline;
	const struct file_names *silent;	/* are not opened */
	const struct file_names *replaced;	/* nor are these: other files are there now */
	const struct held_files *held;		/* of processes that have ended; may be NULL */
};

enum names_result {
	NAMES_WHOLE,
	NAMES_CUT,			/* names are missing because of the deadline */
	NAMES_FEWER_INLINED,		/* only inlined functions are */
	NAMES_SILENT,			/* there are none: a file did not answer */
	NAMES_ENDED,			/* the process that looks them up ended early */
};

/* The first file that was missed, and what helps. */
struct names_lack {
	char text[SYMBOL_LACK_TEXT];	/* "": none */
};

/* Reads a recording back, a file or a directory, of which everything must be flushed. Parts that
 * can't be read are left out. Returns the section of the feature, for free(); it is empty if there
 * are no names. */
struct pd_bytes names_find(int fd, const struct names_options *o, enum names_result *result,
			   struct names_lack *lack);

#endif
