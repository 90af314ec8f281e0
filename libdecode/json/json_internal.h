/* json_internal.h - shared by json_workers.c, json_workers_in.c and json_workers_out.c. */
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
	struct pd_read_ahead ahead;	/* input read while another worker owns the reader */
	const struct pd_source *source;	/* source of `ahead`; NULL: there is no window */
	bool claimed, reading;		/* `ahead` is this worker's to read; it is being read */
	pthread_t thread;
	bool started;
	pthread_cond_t wake;		/* there may be work */
	bool sleeping;			/* waits for `wake` */
	char padding[128];		/* keeps workers in separate cache lines */
};

struct pd_json_workers {
	struct pd_json *main;
	pthread_mutex_t lock;
	pthread_cond_t done;		/* for the caller's thread and workers waiting to flush */
	unsigned int nr_changes;	/* incremented whenever there may be work */
	struct pd_json_slot *ring;
	struct pd_json_outbuf *outbufs;	/* one for each slot */
	struct pd_json_worker *workers;	/* the first one is the caller's thread */
	size_t nr_slots, nr_workers;
	/* Belong to the owner of the reader, or to the caller's thread while no worker may read: */
	size_t filling;			/* index in the ring */
	int status;			/* error that ended reading, or 0 */
	bool has_records;		/* a record was added */
	bool reporting;			/* the caller's thread reports the errors of a block */
	uint64_t return_at;		/* CLOCK_MONOTONIC, ns: when to return to the caller */
	/* Protected by the lock: */
	size_t oldest;			/* index in the ring */
	uint64_t needed_at, claimed_to;	/* file offsets; input up to claimed_to is assigned */
	bool needs_input;		/* the reader lacks the bytes at needed_at */
	bool may_read;			/* any worker may own the reader and read batches */
	bool reader_owned;		/* a worker owns the reader and `filling` */
	bool quit;
	bool flushing;			/* a thread writes blocks to the output */
	char last_char;			/* last character written */
	int failed;			/* error of the output, or 0: nothing more is written */
};

/* Must be called after a record was added to the block being filled. */
static inline void pd_json_workers_note_first(struct pd_json_workers *pool)
{
	if (!pool->has_records)
		pool->ring[pool->filling].block->first = pool->has_records = true;
}

/* Ends the block being filled and goes to the next slot: FILLED leaves the block to any worker. */
static inline void pd_json_workers_next_slot(struct pd_json_workers *pool,
					     enum pd_json_slot_state state)
{
	const size_t next = (pool->filling + 1) % pool->nr_slots;

	pd_json_block_clear(pool->ring[next].block);
	pool->ring[pool->filling].state = state;
	pool->filling = next;
}

/* Result of filling a block. ENDED: pd_reader_next() or more input is needed. FAILED: `status` is
 * set, or input could not be read. */
enum pd_json_filled { PD_JSON_MORE, PD_JSON_FULL, PD_JSON_ENDED, PD_JSON_FAILED };

/* Checks whether the worker has claimed the input that the reader needs next. */
static inline bool pd_json_worker_has_needed(const struct pd_json_workers *pool,
					     const struct pd_json_worker *w)
{
	return w->claimed && w->ahead.at == pool->needed_at;
}

/* Wakes a worker, because there may be work: the one with the needed input, else any. Must be
 * called with the lock held. */
void pd_json_workers_notify(struct pd_json_workers *pool);

/* --- json_workers_in.c --- */

/* Reads records into a block. For the owner of the reader, or the caller's thread while no worker
 * may read. */
enum pd_json_filled pd_json_workers_fill(struct pd_json_workers *pool, struct pd_json_block *b);

/* The functions below must be called with the lock held, and return with it held. */

/* Lets workers read. For the caller's thread. */
void pd_json_workers_start_reading(struct pd_json_workers *pool);

/* Reads a block for the calling worker to write, in *p (NULL: not yet); or reads ahead. Returns
 * false if there is nothing to read now. */
bool pd_json_workers_read(struct pd_json_workers *pool, struct pd_json_worker *w,
			  struct pd_json_slot **p);

/* Ends reading ahead, releases the windows. For the caller's thread, while no worker may read. */
void pd_json_workers_stop_reading(struct pd_json_workers *pool);

/* --- json_workers_out.c: called with the lock held, which is held on return --- */

/* Flushes finished blocks in order, unless another thread does. Only the caller's thread flushes
 * blocks with errors to report. */
void pd_json_workers_flush(struct pd_json_workers *pool, const struct pd_json_worker *w);

/* Formats the block of a slot, which must be TAKEN. */
void pd_json_workers_write(struct pd_json_workers *pool, struct pd_json_worker *w,
			   struct pd_json_slot *p);

/* Updates the caller's JSON writer with what workers wrote. Returns 0 or the output's error. */
int pd_json_workers_sync(struct pd_json_workers *pool);

#endif
