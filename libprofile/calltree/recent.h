/* recent.h - the last stack of some threads, and where it is in the tree: the next one of a thread
 * mostly begins in the same way. */
#ifndef PP_RECENT_H
#define PP_RECENT_H

#include "calltree/sites.h"
#include "store/index.h"

enum { PP_RECENT_THREADS = 64, PP_RECENT_ENTRIES = 512 };

/* Where samples agree in these, and the state is the same, the history has the same task and the
 * same places for them. */
struct pp_same {
	int32_t pid, tid;
	uint32_t has, cpu;
	uint64_t id;
	uint64_t event;		/* of the profile */
};

struct pp_recent {
	struct pp_same same;
	uint64_t state;		/* of the history */
	bool is_known;		/* a sample of these was added */
	bool is_cut;
	bool changes;		/* an address of the chain has other names at other times */
	struct pp_mapped mapped;
	struct pd_task task;
	uint32_t task_node;	/* of the task in the tree */
	uint32_t track;		/* of the task, PP_NONE: not looked up yet */
	size_t nr_entries;	/* of the chain; 0: none is kept */
	uint64_t entries[PP_RECENT_ENTRIES];
	/* of the chain's addresses, outermost first; as text, their frames */
	uint32_t nodes[PP_RECENT_ENTRIES];
	uint64_t shown[PP_RECENT_ENTRIES];	/* the addresses that text has for them */
};

/* Must be zero-initialized. */
struct pp_recents {
	struct pp_recent of_thread[PP_RECENT_THREADS];	/* by tid, modulo */
	uint64_t state;		/* of the last sample */
	struct pp_sites sites;
};

/* Returns what is kept of the thread of a sample, emptied if the samples do not agree. Sets
 * all->state to that at the sample's moment. */
struct pp_recent *pp_recent_of(struct pp_recents *all, const struct pd_history *h,
			       const struct pp_same *same, const struct pd_fields *sample,
			       const struct pd_moment *at);

/* Returns how many addresses at the end of the sample's chain are at the end of the kept one, too,
 * and leaves them out of the sample's. */
size_t pp_recent_leave_out(const struct pp_recent *t, const struct pd_history *h,
			   struct pd_fields *sample);

/* Keeps the task of the samples that agree, and its node. */
void pp_recent_keep_task(struct pp_recent *t, const struct pd_task *task, uint32_t node);

/* Sets the node of the i-th address of the chain that is kept next, from the outermost. */
static inline void pp_recent_set_node(struct pp_recent *t, size_t i, uint32_t node)
{
	if (i < PP_RECENT_ENTRIES)
		t->nodes[i] = node;
}

/* The same with its frame and the address that text has. */
static inline void pp_recent_set_frame(struct pp_recent *t, size_t i, uint32_t frame,
				       uint64_t shown)
{
	if (i >= PP_RECENT_ENTRIES)
		return;
	t->nodes[i] = frame;
	t->shown[i] = shown;
}

/* Keeps the chain of a sample, which has `nr` addresses. One that is too long, or changes, is not
 * kept. */
void pp_recent_keep_chain(struct pp_recent *t, const struct pd_fields *sample, size_t nr);

#endif
