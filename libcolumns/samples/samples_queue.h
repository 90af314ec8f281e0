/* samples_queue.h - samples on their way from the thread that reads them to one that makes their
 * rows. It takes them in their order, so rows and numbers are the same as without it. */
#ifndef PC_SAMPLES_QUEUE_H
#define PC_SAMPLES_QUEUE_H

#include <pthread.h>

#include "samples/samples.h"

/* Room for what others queue while a thread waits some milliseconds for a CPU that two share. */
enum { PC_NR_QUEUED = 64 };

/* Makes the rows of samples, in the thread. */
typedef void (*pc_samples_fn)(void *ctx, struct pc_samples *s);

struct pc_samples_queue {
	struct pc_samples *slots;	/* PC_NR_QUEUED of them; NULL: there is no thread */
	struct pd_budget *budget;
	pc_samples_fn take;
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	/* under the lock: */
	size_t put, taken;		/* how many, since the start */
	bool is_ending;
};

/* Starts the thread, or none: without memory. entries_limit: pc_samples.entries_limit without a
 * queue. */
void pc_queue_start(struct pc_samples_queue *q, struct pd_budget *budget, size_t entries_limit,
		    pc_samples_fn take, void *ctx);

/* Returns samples to be filled in, which may wait for the thread. */
struct pc_samples *pc_queue_next(struct pc_samples_queue *q);
/* Gives the last ones of pc_queue_next() to the thread. */
void pc_queue_put(struct pc_samples_queue *q);

/* Waits until all samples are taken: the thread then touches nothing until the next are put. */
void pc_queue_wait(struct pc_samples_queue *q);

/* The same, and ends the thread, if there is one. */
void pc_queue_stop(struct pc_samples_queue *q);

#endif
