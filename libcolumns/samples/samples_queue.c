/* samples_queue.c - a thread that makes rows of samples: see samples_queue.h. */
#include "samples/samples_queue.h"

#include "base/thread.h"

/* Waking a thread takes as long as some samples: a thread sleeps until there is this much to do. */
enum { BURST = PC_NR_QUEUED / 2 };

enum { SHARE = 4 };	/* of the memory that samples without a queue may take, for each slot */

/* Waits for samples. Returns false at the end. */
static bool wait_for_samples(struct pc_samples_queue *q)
{
	while (q->put == q->taken && !q->is_ending)
		pthread_cond_wait(&q->change, &q->lock);
	return q->put != q->taken;
}

static void *take_samples(void *ctx)
{
	struct pc_samples_queue *q = ctx;

	pthread_mutex_lock(&q->lock);
	while (wait_for_samples(q)) {
		struct pc_samples *s = &q->slots[q->taken % PC_NR_QUEUED];

		pthread_mutex_unlock(&q->lock);
		q->take(q->ctx, s);
		pthread_mutex_lock(&q->lock);
		q->taken++;
		if (q->put - q->taken == BURST || q->put == q->taken)
			pthread_cond_signal(&q->change);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static void free_slots(struct pc_samples_queue *q)
{
	for (size_t i = 0; i < PC_NR_QUEUED; i++) {
		pd_buf_free(&q->slots[i].sites);
		pd_buf_free(&q->slots[i].entries);
	}
	pd_budget_free(q->budget, q->slots, PC_NR_QUEUED * sizeof(*q->slots));
	q->slots = NULL;
	pthread_cond_destroy(&q->change);
	pthread_mutex_destroy(&q->lock);
}

void pc_queue_start(struct pc_samples_queue *q, struct pd_budget *budget, size_t entries_limit,
		    pc_samples_fn take, void *ctx)
{
	*q = (struct pc_samples_queue){ .budget = budget, .take = take, .ctx = ctx };
	q->slots = pd_budget_alloc(budget, PC_NR_QUEUED * sizeof(*q->slots));
	if (!q->slots)
		return;
	for (size_t i = 0; i < PC_NR_QUEUED; i++) {
		q->slots[i].sites.budget = q->slots[i].entries.budget = budget;
		q->slots[i].entries_limit = entries_limit / SHARE;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->change, NULL);
	if (pd_thread_start(&q->thread, take_samples, q))
		free_slots(q);
}

struct pc_samples *pc_queue_next(struct pc_samples_queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->put - q->taken == PC_NR_QUEUED)
		while (q->put - q->taken > BURST)
			pthread_cond_wait(&q->change, &q->lock);
	pthread_mutex_unlock(&q->lock);
	return &q->slots[q->put % PC_NR_QUEUED];
}

void pc_queue_put(struct pc_samples_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->put++;
	if (q->put - q->taken == BURST)
		pthread_cond_signal(&q->change);
	pthread_mutex_unlock(&q->lock);
}

void pc_queue_wait(struct pc_samples_queue *q)
{
	pthread_mutex_lock(&q->lock);
	pthread_cond_signal(&q->change);
	while (q->put != q->taken)
		pthread_cond_wait(&q->change, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

void pc_queue_stop(struct pc_samples_queue *q)
{
	if (!q->slots)
		return;
	pthread_mutex_lock(&q->lock);
	q->is_ending = true;
	pthread_cond_signal(&q->change);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	free_slots(q);
}
