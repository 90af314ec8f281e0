/* firefox.h - a file of the Firefox Profiler while it is written. */
#ifndef PP_FIREFOX_H
#define PP_FIREFOX_H

#include "encoding/out.h"

#define PP_NS_PER_MS 1000000

struct pp_firefox_rank {
	uint64_t samples, process_start;
	int32_t machine_pid, pid;
	uint32_t track, life;
};

struct pp_firefox_stack {
	uint32_t prefix, frame;	/* prefix + 1, 0: none */
};

struct pp_firefox {
	struct pp_out *out;
	struct pp_memory *memory;
	struct pp_strings strings;	/* stringArray */
	uint32_t *frames;		/* of each step: number + 1, 0: none */
	uint32_t nr_frames;
	struct pp_firefox_stack *stacks;
	size_t nr_stacks, stacks_capacity;
	uint32_t *stack_of;		/* of each node of addresses: number + 1, 0: none */
	uint32_t *libs;			/* of each image: number + 1, 0: none */
	uint32_t nr_libs;
	struct pp_firefox_rank *ranks;		/* of the tracks, the busiest first */
	uint64_t first;			/* ns */
	bool is_time;			/* weights are ns */
	int failed;
};

/* Returns the number of a string, which may be new. */
uint32_t pp_firefox_string(struct pp_firefox *c, struct pd_bytes text);

/* Writes a comma, but not the first time. */
void pp_firefox_separator(struct pp_firefox *c, size_t *nr);

/* Writes a number of ns as ms. */
void pp_firefox_ms(struct pp_firefox *c, uint64_t ns);

/* Writes a thread. `life` is the number of processes that had its pid before. */
void pp_firefox_thread(struct pp_firefox *c, const struct pp_track *t, uint32_t life);

#endif
