/* json_internal.h - shared by json_workers.c and json_workers_out.c. */
#ifndef PD_JSON_JSON_INTERNAL_H
#define PD_JSON_JSON_INTERNAL_H

#include "base/thread.h"
#include "json/json_block.h"
#include "json/json_workers.h"

enum pd_json_slot_state { PD_JSON_FREE, PD_JSON_FILLED, PD_JSON_TAKEN, PD_JSON_DONE };

/* A slot of the ring. */
struct pd_json_slot {
	enum pd_json_slot_state state;
	struct pd_json_block *block;
};

/* A thread and its own JSON sink, which writes records only. */
struct pd_json_worker {
	struct pd_json_workers *pool;
	struct pd_json j;
	pthread_t thread;
	bool started;
	char padding[128];		/* keeps workers in separate cache lines */
};

struct pd_json_workers {
	struct pd_json *main;
	pthread_mutex_t lock;
	pthread_cond_t work;		/* for workers without a block */
	pthread_cond_t done;		/* for the caller's thread and workers waiting to flush */
	unsigned int nr_changes;	/* incremented whenever there may be work */
	struct pd_json_slot *ring;
	struct pd_json_outbuf *outbufs;	/* one for each slot */
	struct pd_json_worker *workers;	/* the first one is the caller's thread */
	size_t nr_slots, nr_workers;
	/* Belong to the caller's thread: */
	size_t filling;			/* index in the ring */
	bool has_records;		/* a record was added */
	bool reporting;			/* it reports the errors of a block */
	/* Protected by the lock: */
	size_t oldest;			/* index in the ring */
	bool quit;
	bool flushing;			/* a thread writes blocks to the output */
	char last_char;			/* last character written */
	int failed;			/* error of the output, or 0: nothing more is written */
};

/* --- json_workers_out.c: called with the lock held, which is held on return --- */

/* Wakes a worker and those that wait for a change. Must be called with the lock held. */
void pd_json_workers_notify(struct pd_json_workers *pool);

/* Flushes finished blocks in order, unless another thread does. Only the caller's thread flushes
 * blocks with errors to report. */
void pd_json_workers_flush(struct pd_json_workers *pool, const struct pd_json_worker *w);

/* Formats the block of a slot, which must be TAKEN. */
void pd_json_workers_write(struct pd_json_workers *pool, struct pd_json_worker *w,
			   struct pd_json_slot *p);

/* Lets the caller's JSON writer and the workers know of each other's failed output. Must be called
 * by the caller's thread, with the lock held. */
void pd_json_workers_share_failure(struct pd_json_workers *pool);

/* Updates the caller's JSON writer with what workers wrote. Returns 0 or the output's error. */
int pd_json_workers_sync(struct pd_json_workers *pool);

#endif
