/* lines.h - the lines of a table: functions of an event with the same keys, and their sums. */
#ifndef PP_LINES_H
#define PP_LINES_H

#include "profile/profile_internal.h"

struct pp_line {
	uint32_t event;
	uint32_t function;		/* the first of them */
	uint32_t values[PP_NR_KEYS];	/* by enum pp_key: strings; PP_NONE: no key */
	uint64_t self_weight, self_samples;
	uint64_t total_weight, total_samples;	/* a sample counts once however often the line is
						 * in its stack */
	uint32_t thread;	/* name of the thread with the largest part of self, or PP_NONE */
	uint32_t nr_threads;	/* names with a part of self */
	bool is_of_others;	/* the names differ in more than their digits */
};

/* Must be zero-initialized. */
struct pp_lines {
	struct pp_profile *p;
	enum pp_key keys[PP_NR_KEYS];	/* up to the first PP_KEY_NONE; none: a line is a
					 * function */
	struct pp_line *items;
	size_t nr, capacity;
	struct pp_index index;
	uint32_t *of_node;	/* of each merged node; PP_NONE: a task or an event */
};

/* Fills in the lines of an event, or with PP_KEY_EVENT of all. Returns 0, or -1 without memory.
 * Free them with pp_lines_free() in both cases. */
int pp_lines_make(struct pp_lines *l, struct pp_profile *p, size_t event, const enum pp_key *keys);
void pp_lines_free(struct pp_lines *l);

/* Returns whether keys up to the first PP_KEY_NONE have PP_KEY_EVENT. */
bool pp_keys_have_event(const enum pp_key keys[PP_NR_KEYS]);

#endif
