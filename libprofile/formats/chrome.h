/* chrome.h - trace events while they are written, and the slices of functions. */
#ifndef PP_CHROME_H
#define PP_CHROME_H

#include "encoding/out.h"

enum { PP_CHROME_SHORTEST = 2 };	/* ns of a slice: its end is written 1 ns early */

/* The functions of a thread whose slices have begun, outermost first. Must be zero-initialized. */
struct pp_chrome_stacks {
	uint32_t *open, *next;	/* functions */
	size_t nr, nr_next, open_capacity, next_capacity;
	uint64_t until;		/* ns: the end of their last sample */
};

struct pp_chrome {
	struct pp_out *out;
	uint64_t first;		/* ns */
	bool has_states;	/* slices for running and waiting are written */
	struct pp_chrome_stacks *stacks;	/* NULL: without functions */
};

/* Write the value of "ts", and the members that tell a thread. */
void pp_chrome_time(struct pp_chrome *c, uint64_t time);
void pp_chrome_task(struct pp_chrome *c, const struct pp_track *t);

/* Write the begin of a slice, and the end of one that ends before `time`. */
void pp_chrome_begin(struct pp_chrome *c, const struct pp_track *t, const char *category,
		     struct pd_bytes name, uint64_t time);
void pp_chrome_end(struct pp_chrome *c, const struct pp_track *t, struct pd_bytes name,
		   uint64_t time);

/* Returns when the slices of the first sample begin if it is of that event. */
uint64_t pp_chrome_stacks_first(const struct pp_profile *p, size_t event);

/* Returns whether a sample of a thread that runs since then stands for enough time for a slice. */
bool pp_chrome_has_time(const struct pp_chrome *c, const struct pp_item *sample, uint64_t since);

/* Begins the slices of a sample's functions where those of the sample before end; functions of both
 * go on. Returns 0, or -1 without memory. */
int pp_chrome_stacks_add(struct pp_chrome *c, const struct pp_track *t,
			 const struct pp_item *sample, uint64_t since);

/* Notes a sample that has no slices: the next one does not stand for the time before it. */
void pp_chrome_stacks_skip(struct pp_chrome *c, const struct pp_item *sample);

/* Ends all slices of functions: the thread stops, or is another one. */
void pp_chrome_stacks_end(struct pp_chrome *c, const struct pp_track *t);

void pp_chrome_stacks_free(struct pp_chrome *c);

#endif
