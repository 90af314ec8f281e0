/* samples.h - samples that come one after the other, as arrays of their values.
 *
 * Rows are made of them in three steps: samples_find.c finds threads and places, samples_number.c
 * numbers frames and stacks, rows_samples.c sets the columns. */
#ifndef PC_SAMPLES_H
#define PC_SAMPLES_H

#include "pd/fields.h"
#include "samples/chains.h"
#include "samples/sites.h"

enum { PC_MOST_SAMPLES = 256 };

/* An entry of a chain that has no number yet. */
struct pc_entry {
	struct pc_frame frame;
	const struct pd_location *at;	/* of the last sample; NULL: not kept */
	uint32_t hash;			/* then its number */
	uint16_t site;			/* where it is kept from now on, or PC_NO_SITE */
};

/* Whether the numbers of a sample are known, and what they are made of. */
struct pc_addresses {
	uint32_t slot;		/* pc_recents_find() or pc_recents_keep() */
	uint32_t end;		/* of its sites */
	uint32_t depth;		/* entries of the chain that are no markers */
	uint32_t hash;		/* of the stack, while it is numbered */
	bool is_known;		/* they are those of the slot, and there are no sites */
	bool has_ip;		/* the first site is that of the ip */
	bool is_in_guest;	/* some of it is in a virtual machine */
};

struct pc_samples {
	size_t n;
	bool is_alone;			/* a column needs its record, or its locations */
	uint32_t has;			/* pd_fields.has, of all of them */
	const struct pd_attr *attr;	/* of the last one */
	const struct pd_fields *last;	/* borrowed from the reader, if it is alone */
	uint64_t time[PC_MOST_SAMPLES], period[PC_MOST_SAMPLES], offset[PC_MOST_SAMPLES];
	int32_t pid[PC_MOST_SAMPLES], tid[PC_MOST_SAMPLES];
	uint32_t cpu[PC_MOST_SAMPLES];
	uint32_t event[PC_MOST_SAMPLES];		/* PC_NONE: none */
	uint32_t machine_pid[PC_MOST_SAMPLES];		/* PC_NONE: of the host */
	const char *event_name[PC_MOST_SAMPLES];	/* of the reader; NULL: none, as below */
	const char *comm[PC_MOST_SAMPLES];		/* of the history */
	const char *cpumode[PC_MOST_SAMPLES];		/* static */
	struct pc_addresses addresses[PC_MOST_SAMPLES];
	/* The site where each entry of the chains is kept, or PC_NO_SITE: it is the next of
	 * `entries`. Most are kept, and these two bytes are all that a thread gets from another. */
	struct pd_buf sites;		/* uint16_t */
	struct pd_buf entries;		/* struct pc_entry */
	size_t entries_limit;		/* bytes of both; the last sample may exceed them */
	uint32_t frame[PC_MOST_SAMPLES], stack[PC_MOST_SAMPLES];	/* PC_NONE: none */
};

#endif
