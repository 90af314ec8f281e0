/* async_writer.c - a bounded queue of buffers between one caller and one thread.
 *
 * A buffer holds pieces: an action and the bytes for it. The caller fills buffers[queued % BUFFERS]
 * without the lock, since the thread reads no buffer before it is counted in `queued`; the thread
 * empties buffers[done % BUFFERS] likewise.
 */
#include "output/async_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

/* One buffer holds what is written at once, or compressed into one record. */
enum { BUFFERS = 4, BUFFER_SIZE = PD_OUT_BUFFER + 2 * sizeof(uint64_t), MAX_BORROWED = 16,
	MIN_BORROWED = 64 * 1024 };
_Static_assert(PD_COMPRESSED_MOST <= PD_OUT_BUFFER, "a compressed record's input must fit");

struct piece {
	enum action { COMPRESS, COPY, FLUSH } action;
	uint32_t size;
};

struct borrowed {
	struct pd_lender from;
	size_t size;
};

struct buffer {
	size_t used;
	struct borrowed borrowed[MAX_BORROWED];	/* copied; released with the buffer */
	size_t nr_borrowed;
	struct pd_bytes in_place;	/* instead of pieces: borrowed, not copied */
	struct pd_lender lender;
	_Alignas(struct piece) uint8_t bytes[BUFFER_SIZE];
};

struct pd_async_writer {
	struct pd_async_writer_work work;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	/* under the lock: */
	uint64_t queued, done;
	uint64_t size;
	int err;
	bool stop;
	/* used by the caller only: */
	uint64_t at;			/* output offset of the next bytes, unless compressed */
	struct piece *last;		/* of the buffer being filled, or NULL */
	bool filling;			/* buffers[queued % BUFFERS] is being filled */
	struct buffer buffers[BUFFERS];
};

static int compress_piece(const struct pd_async_writer_work *w, struct pd_bytes records)
{
	w->watch(w->ctx, records);
	return pd_compressor_add(w->compressor, records, w->out);
}

static int process_piece(const struct pd_async_writer_work *w, const struct piece *p,
			 const uint8_t *bytes)
{
	int err;

	if (p->action == COMPRESS)
		return compress_piece(w, (struct pd_bytes){ bytes, p->size });
	if (p->action == COPY) {
		w->watch(w->ctx, (struct pd_bytes){ bytes, p->size });
		return pd_out_append(w->out, bytes, p->size);
	}
	err = pd_out_flush(w->out);
	return err ? err : w->flushed(w->ctx, w->out);
}

static size_t align_up(size_t n)
{
	return (n + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static int process_pieces(const struct pd_async_writer_work *w, const struct buffer *b)
{
	struct piece piece;
	int err = 0;

	for (size_t at = 0; at < b->used && !err; at = align_up(at + piece.size)) {
		memcpy(&piece, b->bytes + at, sizeof(piece));
		at += sizeof(piece);
		err = process_piece(w, &piece, b->bytes + at);
	}
	return err;
}

static void release_borrowed(const struct pd_lender *from, size_t n)
{
	from->give_back(from->owner, n);
}

/* Releases the bytes in parts, since their owner can reuse them at once. */
static int compress_borrowed(const struct pd_async_writer_work *w, const struct buffer *b)
{
	struct pd_bytes left = b->in_place;
	int err = 0;

	while (left.size && !err) {
		const size_t n = left.size < PD_COMPRESSED_MOST ? left.size : PD_COMPRESSED_MOST;

		err = compress_piece(w, (struct pd_bytes){ left.data, n });
		if (!err)
			release_borrowed(&b->lender, n);
		left.data += n;
		left.size -= n;
	}
	return err;
}

static int process_buffer(const struct pd_async_writer_work *w, const struct buffer *b)
{
	const int err = process_pieces(w, b);

	for (size_t i = 0; i < b->nr_borrowed && !err; i++)
		release_borrowed(&b->borrowed[i].from, b->borrowed[i].size);
	return err ? err : compress_borrowed(w, b);
}

static void *writer_thread(void *arg)
{
	struct pd_async_writer *a = arg;
	int err = 0;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (a->done == a->queued && !a->stop)
			pthread_cond_wait(&a->more, &a->lock);
		if (a->done == a->queued)
			break;
		pthread_mutex_unlock(&a->lock);
		if (!err)
			err = process_buffer(&a->work, &a->buffers[a->done % BUFFERS]);
		pthread_mutex_lock(&a->lock);
		a->done++;
		a->err = err;
		a->size = a->work.out->offset;
		pthread_cond_signal(&a->less);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct pd_async_writer *pd_async_writer_new(const struct pd_async_writer_work *work)
{
	struct pd_async_writer *a = malloc(sizeof(*a));

	if (!a)
		return NULL;
	memset(a, 0, offsetof(struct pd_async_writer, buffers));
	a->work = *work;
	a->size = a->at = work->out->offset;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->less, NULL);
	if (!pd_thread_start(&a->thread, writer_thread, a))
		return a;
	pthread_cond_destroy(&a->less);
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->lock);
	free(a);
	return NULL;
}

/* Passes the buffer being filled to the thread. */
static void submit_buffer(struct pd_async_writer *a)
{
	if (!a->filling)
		return;
	a->filling = false;
	a->last = NULL;
	pthread_mutex_lock(&a->lock);
	a->queued++;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
}

void pd_async_writer_free(struct pd_async_writer *a)
{
	if (!a)
		return;
	submit_buffer(a);
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->less);
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* Waits for an empty buffer. */
static int wait_for_buffer(struct pd_async_writer *a)
{
	struct buffer *b = &a->buffers[a->queued % BUFFERS];
	int err;

	pthread_mutex_lock(&a->lock);
	while (a->queued - a->done == BUFFERS)
		pthread_cond_wait(&a->less, &a->lock);
	err = a->err;
	pthread_mutex_unlock(&a->lock);
	a->filling = !err;
	b->used = b->nr_borrowed = b->in_place.size = 0;
	return err;
}

/* Returns the room in the buffer. Without compression it ends at a multiple of PD_OUT_BUFFER in the
 * output, so that writes are aligned. */
static size_t buffer_room(const struct pd_async_writer *a, const struct buffer *b)
{
	const size_t left = (a->work.compressor ? PD_COMPRESSED_MOST : BUFFER_SIZE) - b->used;
	const size_t to_end = PD_OUT_BUFFER - a->at % PD_OUT_BUFFER;

	return a->work.compressor || left < to_end ? left : to_end;
}

/* Appends as many bytes as there is room for. Bytes with the same action join the last piece. */
static int append_piece(struct pd_async_writer *a, enum action action, struct pd_bytes bytes,
			size_t *taken)
{
	struct buffer *b = &a->buffers[a->queued % BUFFERS];
	int err;

	if (a->filling && buffer_room(a, b) < 2 * sizeof(struct piece))
		submit_buffer(a);
	if (!a->filling) {
		err = wait_for_buffer(a);
		if (err)
			return err;
		b = &a->buffers[a->queued % BUFFERS];
	}
	if (!a->last || a->last->action != action) {
		b->used = align_up(b->used);
		a->last = (struct piece *)(b->bytes + b->used);
		*a->last = (struct piece){ .action = action };
		b->used += sizeof(struct piece);
	}
	*taken = bytes.size < buffer_room(a, b) ? bytes.size : buffer_room(a, b);
	if (bytes.size)
		memcpy(b->bytes + b->used, bytes.data, *taken);
	b->used += *taken;
	a->at += *taken;
	a->last->size += (uint32_t)*taken;
	if (!a->work.compressor && a->at % PD_OUT_BUFFER == 0)
		submit_buffer(a);
	return 0;
}

/* from: owner of borrowed bytes, or NULL. The loan is recorded in the buffer, which must have room
 * for that, and released with it. */
static int append_all(struct pd_async_writer *a, enum action action, struct pd_bytes bytes,
		      const struct pd_lender *from)
{
	size_t taken = 0;
	int err = 0;

	while (bytes.size && !err) {
		struct buffer *b = &a->buffers[a->queued % BUFFERS];

		if (from && a->filling && b->nr_borrowed == MAX_BORROWED)
			submit_buffer(a);
		err = append_piece(a, action, bytes, &taken);
		b = &a->buffers[a->queued % BUFFERS];
		if (from && !err)
			b->borrowed[b->nr_borrowed++] = (struct borrowed){ *from, taken };
		bytes.data += taken;
		bytes.size -= taken;
	}
	return err;
}

int pd_async_writer_compress(struct pd_async_writer *a, struct pd_bytes bytes)
{
	return append_all(a, COMPRESS, bytes, NULL);
}

/* Uses a buffer of its own, so that the thread starts at once. */
static int queue_borrowed(struct pd_async_writer *a, struct pd_bytes bytes,
			  const struct pd_lender *from)
{
	struct buffer *b;
	int err;

	submit_buffer(a);
	err = wait_for_buffer(a);
	if (err)
		return err;
	b = &a->buffers[a->queued % BUFFERS];
	b->in_place = bytes;
	b->lender = *from;
	submit_buffer(a);
	return 0;
}

/* Few bytes are better copied than compressed into a record of their own. */
int pd_async_writer_lend(struct pd_async_writer *a, struct pd_bytes bytes,
			 const struct pd_lender *from)
{
	return bytes.size < MIN_BORROWED ? append_all(a, COMPRESS, bytes, from) :
		queue_borrowed(a, bytes, from);
}

int pd_async_writer_copy(struct pd_async_writer *a, struct pd_bytes bytes)
{
	return append_all(a, COPY, bytes, NULL);
}

int pd_async_writer_flush(struct pd_async_writer *a)
{
	size_t taken;
	int err = append_piece(a, FLUSH, (struct pd_bytes){ 0 }, &taken);

	submit_buffer(a);
	return err;
}

int pd_async_writer_wait(struct pd_async_writer *a)
{
	int err;

	submit_buffer(a);
	pthread_mutex_lock(&a->lock);
	while (a->done != a->queued)
		pthread_cond_wait(&a->less, &a->lock);
	err = a->err;
	pthread_mutex_unlock(&a->lock);
	return err;
}

uint64_t pd_async_writer_size(struct pd_async_writer *a)
{
	uint64_t size;

	if (!a->work.compressor)
		return a->at;
	pthread_mutex_lock(&a->lock);
	size = a->size;
	pthread_mutex_unlock(&a->lock);
	return size;
}
