/* profile_internal.h - a profile: the tree of addresses, and later that of functions. */
#ifndef PP_PROFILE_INTERNAL_H
#define PP_PROFILE_INTERNAL_H

#include "calltree/calltree.h"
#include "calltree/frames.h"
#include "profile/offcpu.h"
#include "samples/phase.h"
#include "samples/reads.h"
#include "calltree/recent.h"
#include "store/strings.h"
#include "samples/tracks.h"
#include "samples/weight.h"
#include "pd/filter.h"

#define PP_TOO_HEAVY "the sum of the weights does not fit into 64 bits"

struct pp_counted_event {
	struct pp_weigher weigher;
	uint64_t weight, samples, idle_weight, idle_samples;
	uint64_t rootless;	/* samples in known code, of stacks that begin in no map */
	uint64_t jit_roots;	/* samples of stacks that begin in JIT code, and are not cut */
	uint64_t enabled, running;	/* ns, of samples with counter values; 0: not recorded */
	uint64_t heaviest, heaviest_at;	/* weight of one sample, and its offset */
	size_t attr;		/* its index; SIZE_MAX: none */
	uint32_t root;		/* its node in the tree */
	uint32_t small;		/* node of stacks that there was no memory for */
	uint32_t merged;	/* its node among the functions */
	bool is_wanted;
	bool is_wall_clock;	/* --wall adds its samples to the waits */
};

struct pp_thread {
	int32_t machine_pid, pid, tid;
};

/* The first sample of a node, by time. */
struct pp_first {
	uint64_t time;		/* ns; 0: none */
	uint64_t number;	/* of the sample, as they were read */
};

/* With PP_KEEP_SAMPLES: see firsts.h. */
struct pp_firsts {
	struct pp_first *of_node;
	size_t capacity;
	uint64_t last;		/* time of the last sample */
	bool is_unordered;	/* a sample was older than the one before it */
	bool is_given_up;	/* there was no memory */
};

/* A function, or what stands for one. */
struct pp_named {
	uint32_t name, image, file;	/* strings; file may be PP_NONE */
	uint32_t line;
	uint32_t place;		/* with PP_LINES_APART: the string "FILE:LINE" */
	uint32_t image_index;	/* for pd_history_image(), or PD_NO_IMAGE */
	uint8_t kind, why;
};

/* A node of functions. Children come after their parents. */
struct pp_merged {
	uint32_t parent, function;
	uint64_t weight, samples;		/* of stacks that end here */
	uint64_t total_weight, total_samples;	/* and of those below */
	uint32_t first_child, next;	/* heaviest first; PP_NONE: none */
};

/* A function of a frame, and the line in it. */
struct pp_step {
	uint32_t function, line;	/* line 0: not known */
};

/* Where a node of addresses is among the functions. */
struct pp_place {
	uint32_t node, event;
	bool is_idle;		/* of pid 0 */
	bool has_parent;	/* a function above, or this one, is one of pp_shape.parent */
	bool is_cut;		/* a function of pp_shape.cut_after is above, or this one, or the
				 * scheduler is in a wait that is shown at its caller */
	bool is_wait;		/* a mark of waits is above */
	uint32_t depth;		/* functions from the root */
	uint32_t leaf;		/* the function in which samples are, PP_NONE: none */
	bool is_left_out;	/* its own samples are */
	bool is_rootless;	/* the outermost address is in no map */
	bool is_below_cut;	/* the stack is cut */
	bool is_jit_root;	/* the outermost address is in JIT code */
};

struct pp_stack;

/* How a record is used. */
enum pp_use {
	PP_COUNTED,
	PP_NOTED,	/* outside of the wanted time, into which a wait may reach */
	PP_LEFT_OUT,	/* by the filter: it may end another thread's wait */
};

/* Gets each sample in place of the tree; it counts as `weight` of an event. `take` returns PD_OK,
 * or why no more samples are added. */
struct pp_each_sample {
	enum pd_code (*take)(void *ctx, struct pd_reader *r, const struct pd_fields *sample,
			     const struct pp_stack *stack, const struct pp_counted_event *event,
			     uint64_t weight);
	void *ctx;
};

struct pp_profile {
	struct pp_options options;
	struct pp_memory memory;
	struct pp_strings strings;
	struct pp_frames frames;
	struct pp_tree tree;
	struct pp_counted_event *events;
	size_t nr_events, events_capacity;
	bool has_unwanted;
	uint32_t *event_of_attr;	/* PP_NONE: no sample yet, or not wanted */
	struct pp_counted_event unwanted;	/* the last one that was not */
	size_t attrs_capacity;
	size_t first_clock;	/* no attribute before it is a wanted clock */
	struct pp_thread *threads;
	size_t nr_threads, threads_capacity;
	struct pp_index thread_index;
	struct pd_location *stack;	/* of one sample */
	size_t stack_capacity;
	struct pp_recents *recents;	/* NULL: there was no memory */
	struct pp_counts counts;
	uint32_t command;	/* that was recorded, in `strings`; PP_NONE: not known */
	uint64_t lost_samples;	/* by LOST_SAMPLES; counts.lost is by LOST */
	struct pd_range time;	/* of waits and samples, if not PP_ON_CPU */
	struct pd_range credible;	/* times of samples: see pd_reader_credible_times() */
	struct pp_tracks tracks;	/* with PP_KEEP_SAMPLES */
	struct pp_firsts firsts;
	struct pp_phase phase;
	struct pp_reads reads;
	struct pp_offcpu offcpu;
	struct pd_tree *switch_tree;	/* of a sched:sched_switch; NULL: none yet */
	const struct pp_each_sample *each;	/* borrowed; NULL: samples go to the tree */
	bool is_closed;		/* pp_merge() was called: nothing is added any more */
	/* After pp_merge(): */
	uint32_t *in_time;	/* all nodes, in the order of time; NULL: that of their numbers */
	struct pp_named *functions;
	size_t nr_functions, functions_capacity;
	struct pp_index function_index;
	struct pp_tree shape;		/* its frames are functions */
	enum pp_direction direction;	/* of `merged` */
	enum pp_idle idle;		/* likewise */
	struct pp_merged *merged;
	size_t nr_merged;
	/* A place has samples that are left out: any, and some of pid 0. */
	bool leaves_out, leaves_idle;
	uint32_t one_of;	/* samples are in `tracks` */
	struct pp_step *steps;	/* of frame i, outermost first: first_step[i] up to that of i + 1 */
	size_t nr_steps, steps_capacity;
	uint32_t *first_step;
	struct pp_place *places;	/* of each node of `tree` */
};

/* The value of a node that the caller wants to see. */
static inline uint64_t pp_self(const struct pp_merged *n, enum pp_measure by)
{
	return by == PP_BY_PERIOD ? n->weight : n->samples;
}

static inline uint64_t pp_total(const struct pp_merged *n, enum pp_measure by)
{
	return by == PP_BY_PERIOD ? n->total_weight : n->total_samples;
}

/* Returns a function's name in the form that the caller wants, or NULL. */
static inline const char *pp_symbol_of(const struct pd_namer *namer, const struct pd_function *f)
{
	return namer->linkage_names == PD_LINKAGE_NAMES_SHOWN && f->linkage_name ?
		f->linkage_name : f->symbol;
}

/* Notes that a sample, or a part of a wait, is at a time. */
static inline void pp_note_span(struct pp_profile *p, uint64_t time)
{
	struct pp_counts *c = &p->counts;

	if (c->first == PD_NO_TIME || time < c->first)
		c->first = time;
	if (c->last == PD_NO_TIME || time > c->last)
		c->last = time;
}

/* Returns pp_counts.timer. */
static inline uint64_t pp_timer_of(const struct pp_profile *p)
{
	const struct pp_counts *c = &p->counts;

	return pp_phase_timer(&p->phase, c->first == PD_NO_TIME ? 0 : c->last - c->first);
}

/* Returns the event of this name that has samples, best the one at `near`; SIZE_MAX: none. */
size_t pp_event_called(const struct pp_profile *p, const char *name, size_t near);

/* Returns pp_counts.lost. */
uint64_t pp_lost(const struct pp_profile *p);

/* Returns the i-th node in the order of time, parents before children. */
static inline uint32_t pp_node_in_time(const struct pp_profile *p, size_t i)
{
	return p->in_time ? p->in_time[i] : (uint32_t)i;
}

#endif
