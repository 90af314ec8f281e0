/* reader.h - what the library's own sinks may see of a reader. */
#ifndef PD_READER_READER_H
#define PD_READER_READER_H

#include "pd/pd.h"
#include "stream/batch.h"

struct pd_session *pd_reader_session(struct pd_reader *r);

/* For pd_reader_repair() to add to. */
struct pd_account *pd_reader_own_account(struct pd_reader *r);

/* Called before the session changes, or held windows go: threads that read them have to be done by then. */
void pd_reader_before_update(struct pd_reader *r, void (*quiesce)(void *ctx), void *ctx);

/* The plain records that come next, from records[next] on, for sinks that have a faster way than one by one; NULL: ask
 * pd_reader_next(). Who takes some moves `next` on. Valid until the next call. */
struct pd_batch *pd_reader_batch(struct pd_reader *r);

/* The next record when there is no run, if it teaches nothing, nothing is to be said of it, and nothing to be read for it. NULL:
 * ask pd_reader_next(). Valid until the next call; it comes again until it is taken. */
const struct pd_record *pd_reader_peek(struct pd_reader *r);
void pd_reader_take(struct pd_reader *r);

/* Returns whether any thread may ask for batches, one thread at a time: batches must come without pd_reader_next() for
 * long, so not in a stream and not in decompressed records. */
bool pd_reader_can_change_threads(const struct pd_reader *r);

/* There is no run because the window ends, and the file goes on: *at is where. */
bool pd_reader_needs_input(struct pd_reader *r, uint64_t *at);
/* Then: reads on, or takes what *ahead has, if it has a window. False: pd_reader_next() tells why not. */
bool pd_reader_read_on(struct pd_reader *r, struct pd_read_ahead *ahead);
/* For what other threads read ahead (pd_source_read_ahead()) of the source that they are told. NULL: there is nothing to read. */
const struct pd_source *pd_reader_start_read_ahead(struct pd_reader *r, struct pd_read_ahead *ahead);

/* By what options.stop_at says: nothing more is to be shown. */
bool pd_reader_is_stopped(const struct pd_reader *r);

/* Keeps the bytes of that run where they are until *held is released (pd_window_release()), or all is to be
 * settled: see above. False: memory is short, they have to be copied. */
bool pd_reader_pin_batch(struct pd_reader *r, const struct pd_batch *batch, struct pd_window **held);

/* Something is wrong that only a sink sees. */
void pd_reader_report(struct pd_reader *r, const struct pd_error *e);

/* pd_attr_visit(); what of the attribute's bytes it could not show. */
struct pd_bytes pd_reader_visit_attr(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v,
				     void *ctx);

/* Names of the data.N in a directory, in the order they are read. */
size_t pd_reader_files(const struct pd_reader *r, const char *const **names);

#endif
