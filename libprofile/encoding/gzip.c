/* gzip.c - output that is compressed, perhaps by a thread of its own.
 *
 * The chunks of the output go through a ring: the thread compresses them in their order, and the
 * caller writes the result when it needs the place again. The calls of deflate() are the same
 * without a thread, and so are the bytes.
 */
#include "encoding/gzip.h"

#include <errno.h>
#include <pthread.h>
#include <zlib.h>

#include "base/thread.h"

enum {
	GZIP_HEADER = 16, LEVEL = 4,
	CHUNK = PP_OUT_SIZE,	/* the most that is written at once */
	PART = CHUNK / 4,	/* that deflate() gets at once: what comes out depends on it */
	/* The most that comes out at once: a chunk, and what deflate() holds back, cannot become
	 * longer than this. */
	PACKED = 4 * CHUNK,
	CHUNKS = 4,
};

enum chunk_owner { OF_CALLER, OF_THREAD };	/* at first the caller */

struct chunk {
	enum chunk_owner owner;
	int flush;
	size_t size, packed_size;
	uint8_t bytes[CHUNK], packed[PACKED];
};

struct gzip {
	z_stream z;		/* of the thread, once it has been started */
	struct pp_out *to;
	bool has_chunk;		/* one was compressed */
	int error;
	struct chunk *chunks;	/* CHUNKS; NULL: there is no thread */
	size_t next;		/* the chunk that is filled next */
	pthread_t thread;
	pthread_mutex_t lock;	/* for the chunks' owners */
	pthread_cond_t changed;
};

/* Compresses bytes into `packed`, where PACKED bytes are. Returns the size, or 0 with *error. */
static size_t compress_chunk(z_stream *z, const uint8_t *bytes, size_t size, int flush,
			     uint8_t *packed, int *error)
{
	const int want = flush == Z_FINISH ? Z_STREAM_END : Z_OK;

	z->next_in = (Bytef *)bytes;
	z->next_out = packed;
	z->avail_out = PACKED;
	do {
		z->avail_in = size < PART ? (uInt)size : PART;
		size -= z->avail_in;
		if (deflate(z, flush) != want || z->avail_in || !z->avail_out)
			*error = EIO;
	} while (size && !*error);
	return *error ? 0 : PACKED - z->avail_out;
}

/* --- the thread --- */

static void give_chunk(struct gzip *g, struct chunk *c, enum chunk_owner to)
{
	pthread_mutex_lock(&g->lock);
	c->owner = to;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void await_chunk(struct gzip *g, struct chunk *c, enum chunk_owner of)
{
	pthread_mutex_lock(&g->lock);
	while (c->owner != of)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void *compress_chunks(void *ctx)
{
	struct gzip *g = ctx;
	int flush = Z_NO_FLUSH, error = 0;

	for (size_t i = 0; flush != Z_FINISH; i = (i + 1) % CHUNKS) {
		struct chunk *c = &g->chunks[i];

		await_chunk(g, c, OF_THREAD);
		flush = c->flush;
		if (!error)
			c->packed_size = compress_chunk(&g->z, c->bytes, c->size, flush, c->packed,
							&error);
		else
			c->packed_size = 0;
		give_chunk(g, c, OF_CALLER);
	}
	return (void *)(intptr_t)error;
}

static void start_thread(struct gzip *g)
{
	struct pp_memory *m = &g->to->p->memory;

	if (pp_memory_has_room(m, CHUNKS, sizeof(*g->chunks)))
		g->chunks = pp_memory_zeroed(m, CHUNKS, sizeof(*g->chunks));
	if (!g->chunks)
		return;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	if (pd_thread_start(&g->thread, compress_chunks, g) == 0)
		return;
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	pp_memory_free(m, g->chunks, CHUNKS, sizeof(*g->chunks));
	g->chunks = NULL;
}

/* Writes what a chunk has become. */
static void empty_chunk(struct gzip *g, struct chunk *c)
{
	await_chunk(g, c, OF_CALLER);
	pp_put(g->to, (const char *)c->packed, c->packed_size);
	c->packed_size = 0;
}

static void hand_over(struct gzip *g, const uint8_t *bytes, size_t size, int flush)
{
	struct chunk *c = &g->chunks[g->next];

	g->next = (g->next + 1) % CHUNKS;
	empty_chunk(g, c);
	memcpy(c->bytes, bytes, size);
	c->size = size;
	c->flush = flush;
	give_chunk(g, c, OF_THREAD);
}

static void end_thread(struct gzip *g)
{
	void *error;

	for (size_t i = 0; i < CHUNKS; i++)
		empty_chunk(g, &g->chunks[(g->next + i) % CHUNKS]);
	pthread_join(g->thread, &error);
	g->error = (int)(intptr_t)error;
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	pp_memory_free(&g->to->p->memory, g->chunks, CHUNKS, sizeof(*g->chunks));
}

/* --- the writer's side --- */

/* Compresses as much as the thread would, into less memory. */
static void compress_here(struct gzip *g, const uint8_t *bytes, size_t size, int flush)
{
	uint8_t packed[PART];
	int ret;

	g->z.next_in = (Bytef *)bytes;
	do {
		g->z.avail_in = size < PART ? (uInt)size : PART;
		size -= g->z.avail_in;
		do {
			g->z.next_out = packed;
			g->z.avail_out = sizeof(packed);
			ret = deflate(&g->z, flush);
			pp_put(g->to, (const char *)packed, sizeof(packed) - g->z.avail_out);
		} while (ret == Z_OK && !g->z.avail_out);
		if (ret == Z_STREAM_ERROR || (flush == Z_FINISH && ret != Z_STREAM_END))
			g->error = EIO;
	} while (size && !g->error);
}

static void take_chunk(struct gzip *g, const uint8_t *bytes, size_t size, int flush)
{
	/* a second chunk pays for a thread */
	if (!g->chunks && g->has_chunk && g->to->o.threads > 1 && flush != Z_FINISH)
		start_thread(g);
	g->has_chunk = true;
	if (g->chunks)
		hand_over(g, bytes, size, flush);
	else if (!g->error)
		compress_here(g, bytes, size, flush);
}

static int write_gzip(void *ctx, const void *data, size_t size)
{
	struct gzip *g = ctx;
	const uint8_t *bytes = data;

	while (size && !g->to->error) {
		const size_t part = size < CHUNK ? size : CHUNK;

		take_chunk(g, bytes, part, Z_NO_FLUSH);
		bytes += part;
		size -= part;
	}
	return g->to->error ? g->to->error : g->error;
}

int pp_write_compressed(struct pp_out *out, enum pp_wrapper wrapper,
			int (*write)(struct pp_out *out, void *ctx), void *ctx)
{
	const int header = wrapper == PP_GZIP ? GZIP_HEADER : 0;
	struct gzip g = { .to = out };
	struct pp_out plain = { .p = out->p, .o = out->o, .to = { write_gzip, &g } };
	int ret;

	if (deflateInit2(&g.z, LEVEL, Z_DEFLATED, MAX_WBITS + header, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	ret = write(&plain, ctx);
	pp_flush(&plain);
	if (wrapper == PP_GZIP)
		out->p->counts.unpacked = plain.flushed;
	take_chunk(&g, (const uint8_t *)"", 0, Z_FINISH);
	if (g.chunks)
		end_thread(&g);
	deflateEnd(&g.z);
	if (!ret && !plain.error && !out->error && g.error)
		ret = -1;
	return ret ? ret : plain.error;
}
