/* offcpu.h - the time that threads do not run, from context switches. */
#ifndef PP_OFFCPU_H
#define PP_OFFCPU_H

#include "store/index.h"
#include "pd/fields.h"
#include "pd/history.h"

struct pd_reader;
struct pp_profile;

enum pp_switch { PP_BLOCKED, PP_PREEMPTED };
enum pp_stack_of { PP_STACK_OF_SAMPLE, PP_STACK_OF_SWITCH };

/* A thread: where it was last, and since when it waits. */
struct pp_waiter {
	uint64_t thread;	/* pp_thread_key() */
	uint32_t last;		/* node of its last sample; PP_NONE: none */
	uint32_t node;		/* where it waits */
	uint32_t copies[2];	/* of `last`, by enum pp_switch; PP_NONE: none yet */
	uint64_t since;		/* ns; PD_NO_TIME: it runs */
	uint32_t track;		/* where the wait is kept; PP_NONE: nowhere */
	uint8_t stack_of;	/* enum pp_stack_of: of `last` */
	bool is_left_out;	/* the last sample is, by the filter, and so are its waits */
	bool is_over;		/* it has ended: the switch away from it begins no wait */
	bool is_small;		/* the last sample is counted as "[small]", and so are its waits */
};

/* Must be zero-initialized. */
struct pp_offcpu {
	struct pp_waiter *waiters;
	size_t nr, capacity;
	struct pp_index index;
	uint32_t event;		/* that has the times */
	uint64_t last;		/* time of the last record */
	uint64_t waits;		/* also those that the recording has as samples */
	uint64_t approximate;	/* of them, at the stack of a sample */
	uint64_t nowhere;	/* of them, without a stack */
};

/* Returns what tells a thread from others at a time: its machine and tid. */
static inline uint64_t pp_thread_key(const struct pd_task *task)
{
	return (uint64_t)(uint32_t)task->machine_pid << 32 | (uint32_t)task->tid;
}

/* Returns the same of a record's thread. */
uint64_t pp_thread_of(const struct pp_profile *p, const struct pd_fields *record);

/* All others return 0, or -1 without memory. */

/* Notes the stack of a thread: a node of any event. */
int pp_offcpu_note(struct pp_profile *p, uint64_t thread, uint32_t node, enum pp_stack_of of);
/* The filter left out the last sample of the thread. */
int pp_offcpu_leave_out(struct pp_profile *p, uint64_t thread);
/* The thread leaves the CPU, as a record says. If it waits already nothing changes. */
int pp_offcpu_leave(struct pp_profile *p, struct pd_reader *r, uint64_t thread,
		    const struct pd_fields *record, enum pp_switch why);
/* The thread runs again. */
int pp_offcpu_enter(struct pp_profile *p, uint64_t thread, uint64_t time);
/* The thread ends. */
int pp_offcpu_exit(struct pp_profile *p, uint64_t thread, uint64_t time);
/* Ends all waits at the time of the last record. */
int pp_offcpu_end(struct pp_profile *p);

/* A new thread has the number of one that ended. */
void pp_offcpu_fork(struct pp_profile *p, uint64_t thread);

void pp_offcpu_free(struct pp_offcpu *o, struct pp_memory *m);

#endif
