/* async_writer.h - a thread that compresses and writes, in order, while the caller goes on.
 * compressor.h and out.h do the work.
 *
 * The caller's bytes are copied into one of a few buffers, or borrowed; the caller waits only while
 * all buffers are full. A failure is returned by later calls; nothing is written after it.
 */
#ifndef PD_OUTPUT_ASYNC_WRITER_H
#define PD_OUTPUT_ASYNC_WRITER_H

#include "output/compressor.h"
#include "output/out.h"
#include "pd/write.h"

struct pd_async_writer;

struct pd_async_writer_work {
	/* Both belong to the thread, except between pd_async_writer_wait() and the next call. */
	struct pd_out *out;
	struct pd_compressor *compressor;	/* NULL: no compression */
	/* Called by the thread after each flush, when everything so far is written. Returns 0 or an
	 * errno. */
	int (*flushed)(void *ctx, struct pd_out *out);
	/* Called by the thread with bytes to be written, before they are compressed. */
	void (*watch)(void *ctx, struct pd_bytes bytes);
	void *ctx;			/* of both callbacks */
};

/* Returns NULL if there is no memory or no thread. */
struct pd_async_writer *pd_async_writer_new(const struct pd_async_writer_work *work);
/* Finishes what is queued and ends the thread. Accepts NULL. */
void pd_async_writer_free(struct pd_async_writer *a);

/* Each returns 0, or the errno of an earlier failure. */
int pd_async_writer_compress(struct pd_async_writer *a, struct pd_bytes bytes);
/* Like _compress(), but does not copy unless the bytes are few. The thread gives them back, unless
 * something has failed. */
int pd_async_writer_lend(struct pd_async_writer *a, struct pd_bytes bytes,
			 const struct pd_lender *from);
/* Writes the bytes uncompressed, after all earlier ones. */
int pd_async_writer_copy(struct pd_async_writer *a, struct pd_bytes bytes);
/* Starts writing what is buffered, without waiting for it. */
int pd_async_writer_flush(struct pd_async_writer *a);
/* Waits until everything queued is done. */
int pd_async_writer_wait(struct pd_async_writer *a);

/* Returns the size of the output so far, without bytes that wait to be compressed. */
uint64_t pd_async_writer_size(struct pd_async_writer *a);

#endif
