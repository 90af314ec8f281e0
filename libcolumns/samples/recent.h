/* recent.h - what samples have in common. Those of a thread have the same task, while the history's
 * state is the same for them; those of any thread for which the same is mapped have the same frame
 * and stack, where the addresses are the same. */
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
	/* Numbers for what is mapped: pd_history_mapped(), or the epoch's if it has none. */
	uint64_t process, kernel;
	bool has_mapped;	/* `process` and `kernel` are known */
	bool has_task;		/* `task` is known */
	bool is_named;		/* by the recording */
	struct pd_task task;
};

struct pc_recents {
	struct pd_budget *budget;
	uint64_t limit;			/* bytes for the places, and for the chains */
	struct pc_thread *threads;	/* by tid, modulo; NULL: nothing is kept */
	struct pc_place {
		uint64_t process, kernel;	/* what is mapped; both 0: none */
		uint64_t ip;
		size_t start;		/* of the chain, in `chains` */
		uint32_t count;
		uint16_t has, misc;
	} *places;			/* by a hash of the addresses, modulo */
	struct pd_buf chains;		/* uint64_t; a full one starts empty */
	uint64_t epochs;
	uint64_t state;			/* of the last sample */
	uint64_t kernel, kernel_state;	/* the kernel's maps, and when; 0: not yet known */
	struct pc_place *asked;		/* where the last sample belongs */
};

/* Nothing is kept if that would take more than the limit. */
void pc_recents_init(struct pc_recents *r, struct pd_budget *budget, uint64_t limit);
void pc_recents_free(struct pc_recents *r);

/* Returns what is kept of the thread of a sample, emptied if the state is not the same, or NULL:
 * nothing is kept of such samples. */
struct pc_thread *pc_recents_thread(struct pc_recents *r, const struct pd_history *h,
				    const struct pd_fields *f, const struct pd_moment *at);

/* Finds what is mapped for a sample of the thread. */
void pc_recents_map(struct pc_recents *r, const struct pd_history *h, struct pc_thread *t,
		    const struct pd_fields *f);

/* Returns whether the thread's numbers are those of what is mapped, and not of its epoch. */
static inline bool pc_is_mapped(const struct pc_thread *t)
{
	return t->kernel != 0;
}

/* Returns the slot, below PC_NR_PLACES, of the last sample with the same addresses for which the
 * same is mapped, if it was kept and no other took its slot, or PC_NONE. After pc_recents_map(). */
uint32_t pc_recents_find(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f);

/* Keeps the addresses of the sample that pc_recents_find() did not find, which must not be in a
 * virtual machine if pc_is_mapped(). Returns their slot, or PC_NONE: they are not kept. */
uint32_t pc_recents_keep(struct pc_recents *r, const struct pc_thread *t,
			 const struct pd_fields *f);

#endif
