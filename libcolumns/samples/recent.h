/* recent.h - what samples of a thread have in common: while the history's state is the same for
 * them, they have the same task, and where the addresses are the same, the same frame and stack. */
#ifndef PC_RECENT_H
#define PC_RECENT_H

#include "pd/fields.h"
#include "pd/history.h"
#include "store/index.h"

enum { PC_NR_THREADS = 256, PC_NR_PLACES = 8192 };

struct pc_thread {
	int32_t pid, tid;
	uint32_t cpu;		/* of the idle tasks, else 0 */
	uint64_t id, state;
	uint64_t epoch;		/* of the time with this state, of all threads; 0: none */
	bool has_task;		/* `task` is known */
	bool is_named;		/* by the recording */
	struct pd_task task;
};

struct pc_recents {
	struct pd_budget *budget;
	uint64_t limit;			/* bytes for the places, and for the chains */
	struct pc_thread *threads;	/* by tid, modulo; NULL: nothing is kept */
	struct pc_place {
		uint64_t epoch;		/* 0: none */
		uint64_t ip;
		size_t start, count;	/* of the chain, in `chains` */
		uint32_t has, misc;
	} *places;			/* by a hash of the addresses, modulo */
	struct pd_buf chains;		/* uint64_t; a full one starts empty */
	uint64_t epochs;
	uint64_t state;			/* of the last sample */
	struct pc_place *asked;		/* where the last sample belongs */
};

/* Nothing is kept if that would take more than the limit. */
void pc_recents_init(struct pc_recents *r, struct pd_budget *budget, uint64_t limit);
void pc_recents_free(struct pc_recents *r);

/* Returns what is kept of the thread of a sample, emptied if the state is not the same, or NULL:
 * nothing is kept of such samples. */
struct pc_thread *pc_recents_thread(struct pc_recents *r, const struct pd_history *h,
				    const struct pd_fields *f, const struct pd_moment *at);

/* Returns the slot, below PC_NR_PLACES, of the last sample of the thread with the same addresses,
 * if it was kept and no other took its slot, or PC_NONE. */
uint32_t pc_recents_find(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f);

/* Keeps the addresses of the sample that pc_recents_find() did not find. Returns their slot, or
 * PC_NONE: they are not kept. */
uint32_t pc_recents_keep(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f);

#endif
