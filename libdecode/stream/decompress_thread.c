/* decompress_thread.c - a thread that decompresses: see decompress_thread.h.
 *
 * Two queues: payloads to the thread, pieces from it. Their counters only grow. Between two
 * counters, an entry belongs to one side alone.
 */
#include "stream/decompress_thread.h"

#include "base/thread.h"
#include "input/zstd_stream.h"

enum { PAYLOADS = 16, PIECES = 4, SPINS = 2000 };

/* A thread needs windows, buffers and zstd's own memory: start one only if that is little of what
 * is left. */
#define WORTHWHILE (32u << 20)

struct job {
	struct pd_payload payload;
	uint64_t limit;			/* for all memory that zstd needs */
	bool begun;
};

struct made {
	struct pd_piece piece;
	uint64_t used;			/* memory that zstd has after this piece */
};

struct pd_decompress_thread {
	struct pd_windows *windows;
	size_t size;
	struct pd_zstd_stream *zstd;		/* used by the thread only, as its budget `own` */
	struct pd_budget own;
	uint64_t charged;		/* how much of `own` is charged to the stream's budget */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, ready;	/* there is work for the thread; a piece for the stream */
	/* Protected by the lock: */
	size_t queued, done;		/* payloads queued, and used up by the thread */
	size_t lent, made;		/* pieces that have windows, and that are filled */
	bool quit;
	/* Used by the stream only: */
	size_t released, taken;		/* payloads released; pieces taken */
	struct pd_piece last;		/* the last piece taken */
	bool ending;			/* only the end of its payload follows `last` */
	struct job jobs[PAYLOADS];
	struct made pieces[PIECES];
};

/* --- in the thread --- */

static void fill_piece(struct pd_decompress_thread *a, struct job *job, struct made *m)
{
	struct pd_piece *p = &m->piece;
	int64_t n = 1;

	if (!job->begun) {
		a->own.limit = job->limit;
		pd_zstd_stream_input(a->zstd, job->payload.bytes);
		job->begun = true;
	}
	p->size = 0;
	while (n > 0 && p->size < a->size) {
		n = pd_zstd_stream_read(a->zstd, p->window->data + PD_PIECE_FRONT + p->size,
					a->size - p->size, &p->error);
		if (n > 0)
			p->size += (size_t)n;
	}
	p->result = (int)(n > 0 ? 1 : n);
	m->used = a->own.used;
}

static bool has_work(const struct pd_decompress_thread *a)
{
	return a->done < a->queued && a->made < a->lent;
}

/* Spins for a while, because more work is likely soon. Called and left with the lock held. */
static void spin_for_work(struct pd_decompress_thread *a)
{
	const size_t lent = a->lent, queued = a->queued;

	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < SPINS && __atomic_load_n(&a->lent, __ATOMIC_RELAXED) == lent &&
			__atomic_load_n(&a->queued, __ATOMIC_RELAXED) == queued; i++)
		pd_thread_relax();
	pthread_mutex_lock(&a->lock);
}

static void *decompress_payloads(void *arg)
{
	struct pd_decompress_thread *a = arg;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		struct made *m = &a->pieces[a->made % PIECES];

		if (!has_work(a))
			spin_for_work(a);
		while (!a->quit && !has_work(a))
			pthread_cond_wait(&a->more, &a->lock);
		if (a->quit)
			break;
		pthread_mutex_unlock(&a->lock);
		fill_piece(a, &a->jobs[a->done % PAYLOADS], m);
		pthread_mutex_lock(&a->lock);
		a->done += m->piece.result <= 0;
		__atomic_store_n(&a->made, a->made + 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&a->ready);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* --- in the stream --- */

/* Acquires windows for the next pieces, as far as memory allows. Returns -1 if there is none at
 * all. */
static int lend_windows(struct pd_decompress_thread *a)
{
	size_t lent = a->lent;

	while (lent - a->taken < PIECES) {
		struct pd_window *w = pd_windows_acquire(a->windows, PD_PIECE_FRONT + a->size);

		if (!w)
			break;
		a->pieces[lent++ % PIECES].piece.window = w;
	}
	if (lent == a->lent)
		return lent == a->taken ? -1 : 0;
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->lent, lent, __ATOMIC_RELAXED);
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
	return 0;
}

/* Charges zstd's memory to the stream's budget, as of the thread's last piece. */
static void charge_zstd_memory(struct pd_decompress_thread *a, uint64_t used)
{
	a->windows->budget->used += used;
	a->windows->budget->used -= a->charged;
	a->charged = used;
}

static uint64_t limit_for(const struct pd_decompress_thread *a)
{
	const struct pd_budget *b = a->windows->budget;
	const uint64_t used = b->used - a->charged;

	return used < b->limit ? b->limit - used : 0;
}

struct pd_decompress_thread *pd_decompress_thread_new(struct pd_windows *windows, size_t size)
{
	struct pd_budget *b = windows->budget;
	struct pd_decompress_thread *a = NULL;
	struct pd_error ignored;

	if (b->used < b->limit && b->limit - b->used >= WORTHWHILE)
		a = pd_budget_alloc(b, sizeof(*a));
	if (!a)
		return NULL;
	a->windows = windows;
	a->size = size;
	a->own.limit = limit_for(a);
	a->zstd = pd_zstd_stream_new(&a->own, &ignored);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->ready, NULL);
	if (a->zstd && !pd_thread_start(&a->thread, decompress_payloads, a)) {
		charge_zstd_memory(a, a->own.used);
		return a;
	}
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->lock);
	pd_zstd_stream_free(a->zstd);
	pd_budget_free(b, a, sizeof(*a));
	return NULL;
}

void pd_decompress_thread_free(struct pd_decompress_thread *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->quit = true;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->lock);
	for (; a->released < a->queued; a->released++)
		pd_window_release(a->jobs[a->released % PAYLOADS].payload.held);
	for (; a->taken < a->lent; a->taken++)
		pd_window_release(a->pieces[a->taken % PIECES].piece.window);
	pd_zstd_stream_free(a->zstd);
	charge_zstd_memory(a, 0);
	pd_budget_free(a->windows->budget, a, sizeof(*a));
}

bool pd_decompress_thread_has_room(const struct pd_decompress_thread *a)
{
	return a->queued - a->released < PAYLOADS;
}

void pd_decompress_thread_add(struct pd_decompress_thread *a, const struct pd_payload *p)
{
	a->jobs[a->queued % PAYLOADS] = (struct job){ .payload = *p, .limit = limit_for(a) };
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->queued, a->queued + 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
}

/* Ends a payload with the result of its last piece. */
static void end_payload(struct pd_decompress_thread *a, const struct pd_piece *last,
			struct pd_piece *end)
{
	*end = (struct pd_piece){ .result = last->result, .error = last->error };
	pd_window_release(a->jobs[a->released++ % PAYLOADS].payload.held);
	a->ending = false;
}

/* Drops the rest of a payload for which there is no window; the thread is waiting for one, too. */
static void drop_payload(struct pd_decompress_thread *a)
{
	pthread_mutex_lock(&a->lock);
	a->done++;
	pthread_mutex_unlock(&a->lock);
	pd_window_release(a->jobs[a->released++ % PAYLOADS].payload.held);
}

int pd_decompress_thread_next(struct pd_decompress_thread *a, struct pd_piece *piece)
{
	const struct made *m = &a->pieces[a->taken % PIECES];

	if (a->ending) {
		end_payload(a, &a->last, piece);
		return 0;
	}
	if (lend_windows(a)) {
		drop_payload(a);
		return -1;
	}
	for (int i = 0; i < SPINS && __atomic_load_n(&a->made, __ATOMIC_RELAXED) == a->taken; i++)
		pd_thread_relax();
	pthread_mutex_lock(&a->lock);
	while (a->made == a->taken)
		pthread_cond_wait(&a->ready, &a->lock);
	pthread_mutex_unlock(&a->lock);
	charge_zstd_memory(a, m->used);
	*piece = a->last = m->piece;
	a->taken++;
	a->ending = piece->size && piece->result <= 0;
	if (!piece->size) {
		pd_window_release(piece->window);
		end_payload(a, &a->last, piece);
	}
	return 0;
}
