/* async_writer.c - a bounded queue of buffers, one writer and one thread that empties them.
 *
 * A buffer holds pieces: what to do and how many bytes follow. The caller fills
 * buffers[put % BUFFERS] without the lock, as the thread looks at none before it is counted in
 * `put`; the thread empties buffers[got % BUFFERS] likewise.
 */
#include "output/async_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

/* A buffer takes what is written at once, or compressed into one record. */
enum { BUFFERS = 4, BUFFER_SIZE = PD_OUT_BUFFER + 2 * sizeof(uint64_t), LOANS = 16, LEND_LEAST = 64 * 1024 };
_Static_assert(PD_COMPRESSED_MOST <= PD_OUT_BUFFER, "records to be compressed together fit as well");

struct piece {
	enum what { RECORDS, PLAIN, FLUSH } what;
	uint32_t size;
};

struct loan {
	struct pd_lender from;
	size_t size;
};

struct buffer {
	size_t used;
	struct loan copied[LOANS];	/* what of the pieces is given back with the buffer */
	size_t nr_copied;
	struct pd_bytes lent;		/* instead of pieces: compressed from where it is */
	struct pd_lender lender;
	_Alignas(struct piece) uint8_t bytes[BUFFER_SIZE];
};

struct pd_async_writer {
	struct pd_async_writer_work work;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	/* under the lock: */
	uint64_t put, got;
	uint64_t size;
	int failed;
	bool ending;
	/* the caller's: */
	uint64_t at;			/* where the next bytes come in the output; not known of what is to be compressed */
	struct piece *last;		/* of the buffer being filled, to be added to; or NULL */
	bool filling;			/* buffers[put % BUFFERS] is the caller's */
	struct buffer buffers[BUFFERS];
};

static int compress(const struct pd_async_writer_work *w, struct pd_bytes records)
{
	w->watch(w->ctx, records);
	return pd_compressor_add(w->compressor, records, w->out);
}

static int do_piece(const struct pd_async_writer_work *w, const struct piece *p, const uint8_t *bytes)
{
	int failed;

	if (p->what == RECORDS)
		return compress(w, (struct pd_bytes){ bytes, p->size });
	if (p->what == PLAIN) {
		w->watch(w->ctx, (struct pd_bytes){ bytes, p->size });
		return pd_out_append(w->out, bytes, p->size);
	}
	failed = pd_out_flush(w->out);
	return failed ? failed : w->flushed(w->ctx, w->out);
}

static size_t aligned(size_t n)
{
	return (n + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static int do_pieces(const struct pd_async_writer_work *w, const struct buffer *b)
{
	struct piece piece;
	int failed = 0;

	for (size_t at = 0; at < b->used && !failed; at = aligned(at + piece.size)) {
		memcpy(&piece, b->bytes + at, sizeof(piece));
		at += sizeof(piece);
		failed = do_piece(w, &piece, b->bytes + at);
	}
	return failed;
}

static void give_back(const struct pd_lender *from, size_t n)
{
	from->give_back(from->owner, n);
}

/* Bit by bit: its owner has use for what is done. */
static int do_lent(const struct pd_async_writer_work *w, const struct buffer *b)
{
	struct pd_bytes left = b->lent;
	int failed = 0;

	while (left.size && !failed) {
		const size_t n = left.size < PD_COMPRESSED_MOST ? left.size : PD_COMPRESSED_MOST;

		failed = compress(w, (struct pd_bytes){ left.data, n });
		if (!failed)
			give_back(&b->lender, n);
		left.data += n;
		left.size -= n;
	}
	return failed;
}

static int do_buffer(const struct pd_async_writer_work *w, const struct buffer *b)
{
	const int failed = do_pieces(w, b);

	for (size_t i = 0; i < b->nr_copied && !failed; i++)
		give_back(&b->copied[i].from, b->copied[i].size);
	return failed ? failed : do_lent(w, b);
}

static void *run(void *arg)
{
	struct pd_async_writer *l = arg;
	int failed = 0;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (l->got == l->put && !l->ending)
			pthread_cond_wait(&l->more, &l->lock);
		if (l->got == l->put)
			break;
		pthread_mutex_unlock(&l->lock);
		if (!failed)
			failed = do_buffer(&l->work, &l->buffers[l->got % BUFFERS]);
		pthread_mutex_lock(&l->lock);
		l->got++;
		l->failed = failed;
		l->size = l->work.out->offset;
		pthread_cond_signal(&l->less);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct pd_async_writer *pd_async_writer_new(const struct pd_async_writer_work *work)
{
	struct pd_async_writer *l = malloc(sizeof(*l));

	if (!l)
		return NULL;
	memset(l, 0, offsetof(struct pd_async_writer, buffers));
	l->work = *work;
	l->size = l->at = work->out->offset;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->more, NULL);
	pthread_cond_init(&l->less, NULL);
	if (!pd_thread_start(&l->thread, run, l))
		return l;
	pthread_cond_destroy(&l->less);
	pthread_cond_destroy(&l->more);
	pthread_mutex_destroy(&l->lock);
	free(l);
	return NULL;
}

/* What is being filled is to be emptied. */
static void hand_over(struct pd_async_writer *l)
{
	if (!l->filling)
		return;
	l->filling = false;
	l->last = NULL;
	pthread_mutex_lock(&l->lock);
	l->put++;
	pthread_cond_signal(&l->more);
	pthread_mutex_unlock(&l->lock);
}

void pd_async_writer_free(struct pd_async_writer *l)
{
	if (!l)
		return;
	hand_over(l);
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_cond_signal(&l->more);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_cond_destroy(&l->less);
	pthread_cond_destroy(&l->more);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* An empty buffer, once there is one. */
static int begin(struct pd_async_writer *l)
{
	struct buffer *b = &l->buffers[l->put % BUFFERS];
	int failed;

	pthread_mutex_lock(&l->lock);
	while (l->put - l->got == BUFFERS)
		pthread_cond_wait(&l->less, &l->lock);
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	l->filling = !failed;
	b->used = b->nr_copied = b->lent.size = 0;
	return failed;
}

/* Bytes that the buffer takes. What is not compressed ends where a write of the file should. */
static size_t room(const struct pd_async_writer *l, const struct buffer *b)
{
	const size_t left = (l->work.compressor ? PD_COMPRESSED_MOST : BUFFER_SIZE) - b->used;
	const size_t to_end = PD_OUT_BUFFER - l->at % PD_OUT_BUFFER;

	return l->work.compressor || left < to_end ? left : to_end;
}

/* As much as there is room for. Bytes to be treated like the last ones join their piece. */
static int put(struct pd_async_writer *l, enum what what, struct pd_bytes bytes, size_t *taken)
{
	struct buffer *b = &l->buffers[l->put % BUFFERS];
	int failed;

	if (l->filling && room(l, b) < 2 * sizeof(struct piece))
		hand_over(l);
	if (!l->filling) {
		failed = begin(l);
		if (failed)
			return failed;
		b = &l->buffers[l->put % BUFFERS];
	}
	if (!l->last || l->last->what != what) {
		b->used = aligned(b->used);
		l->last = (struct piece *)(b->bytes + b->used);
		*l->last = (struct piece){ .what = what };
		b->used += sizeof(struct piece);
	}
	*taken = bytes.size < room(l, b) ? bytes.size : room(l, b);
	if (bytes.size)
		memcpy(b->bytes + b->used, bytes.data, *taken);
	b->used += *taken;
	l->at += *taken;
	l->last->size += (uint32_t)*taken;
	if (!l->work.compressor && l->at % PD_OUT_BUFFER == 0)
		hand_over(l);
	return 0;
}

/* What is of a loan is given back when its buffer is, in which there must be room to note that. from: NULL: it is of none. */
static int put_all(struct pd_async_writer *l, enum what what, struct pd_bytes bytes, const struct pd_lender *from)
{
	size_t taken = 0;
	int failed = 0;

	while (bytes.size && !failed) {
		struct buffer *b = &l->buffers[l->put % BUFFERS];

		if (from && l->filling && b->nr_copied == LOANS)
			hand_over(l);
		failed = put(l, what, bytes, &taken);
		b = &l->buffers[l->put % BUFFERS];
		if (from && !failed)
			b->copied[b->nr_copied++] = (struct loan){ *from, taken };
		bytes.data += taken;
		bytes.size -= taken;
	}
	return failed;
}

int pd_async_writer_records(struct pd_async_writer *l, struct pd_bytes bytes)
{
	return put_all(l, RECORDS, bytes, NULL);
}

/* A buffer of its own: the thread begins at once. */
static int lend(struct pd_async_writer *l, struct pd_bytes bytes, const struct pd_lender *from)
{
	struct buffer *b;
	int failed;

	hand_over(l);
	failed = begin(l);
	if (failed)
		return failed;
	b = &l->buffers[l->put % BUFFERS];
	b->lent = bytes;
	b->lender = *from;
	hand_over(l);
	return 0;
}

/* A little is better gathered than a record of its own. */
int pd_async_writer_lend(struct pd_async_writer *l, struct pd_bytes bytes, const struct pd_lender *from)
{
	return bytes.size < LEND_LEAST ? put_all(l, RECORDS, bytes, from) : lend(l, bytes, from);
}

int pd_async_writer_plain(struct pd_async_writer *l, struct pd_bytes bytes)
{
	return put_all(l, PLAIN, bytes, NULL);
}

int pd_async_writer_flush(struct pd_async_writer *l)
{
	size_t taken;
	int failed = put(l, FLUSH, (struct pd_bytes){ 0 }, &taken);

	hand_over(l);
	return failed;
}

int pd_async_writer_wait(struct pd_async_writer *l)
{
	int failed;

	hand_over(l);
	pthread_mutex_lock(&l->lock);
	while (l->got != l->put)
		pthread_cond_wait(&l->less, &l->lock);
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	return failed;
}

uint64_t pd_async_writer_size(struct pd_async_writer *l)
{
	uint64_t size;

	if (!l->work.compressor)
		return l->at;
	pthread_mutex_lock(&l->lock);
	size = l->size;
	pthread_mutex_unlock(&l->lock);
	return size;
}
