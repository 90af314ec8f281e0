/* async_writer.h - a thread that compresses and writes, in the order it was told, while the caller goes
 * on. compressor.h and out.h do the work.
 *
 * The caller's bytes are copied into one of a few buffers, or lent; only when all buffers wait does
 * it wait, too. A failure is returned by the calls that come after it; nothing is written behind it.
 */
#ifndef PD_OUTPUT_ASYNC_WRITER_H
#define PD_OUTPUT_ASYNC_WRITER_H

#include "output/compressor.h"
#include "output/out.h"
#include "pd/write.h"

struct pd_async_writer;

struct pd_async_writer_work {
	/* Both are the thread's, but for the time from pd_async_writer_wait() to the next call. */
	struct pd_out *out;
	struct pd_compressor *compressor;	/* NULL: nothing is compressed */
	/* In the thread, after each flush: everything so far is written. 0, or an errno. */
	int (*flushed)(void *ctx, struct pd_out *out);
	/* In the thread: bytes that are to be written, before they are compressed. */
	void (*watch)(void *ctx, struct pd_bytes bytes);
	void *ctx;			/* of both */
};

/* NULL: no memory, or no thread. */
struct pd_async_writer *pd_async_writer_new(const struct pd_async_writer_work *work);
/* Does what was told, and ends. NULL is fine. */
void pd_async_writer_free(struct pd_async_writer *l);

/* Each: 0, or the errno of what was told before. */
int pd_async_writer_records(struct pd_async_writer *l, struct pd_bytes bytes);	/* to be compressed */
/* The same, but what is not little is compressed from where it is. Given back in the thread, unless something failed. */
int pd_async_writer_lend(struct pd_async_writer *l, struct pd_bytes bytes, const struct pd_lender *from);
int pd_async_writer_plain(struct pd_async_writer *l, struct pd_bytes bytes);	/* as they are, behind those */
int pd_async_writer_flush(struct pd_async_writer *l);	/* soon: nothing waits for more to come */
int pd_async_writer_wait(struct pd_async_writer *l);	/* until everything was done */

/* Bytes of the output so far, without what waits to be compressed. */
uint64_t pd_async_writer_size(struct pd_async_writer *l);

#endif
