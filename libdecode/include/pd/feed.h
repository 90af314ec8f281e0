/* feed.h - reads a recording from bytes that the caller has, as they come: from a socket, a file
 * that grows, an event loop.
 *
 *	struct pd_feed *feed = pd_feed_new(NULL, &e);
 *
 *	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
 *		if (pd_feed_add(feed, (struct pd_bytes){ buf, (size_t)n }, &e))
 *			break;
 *		while (pd_feed_next(feed, &record, &e) == 1)
 *			use(record);
 *	}
 *
 * The records are those that pd_reader_next() would give, however the bytes are cut. Those of a
 * pipe's recording come as soon as they are whole; with the next header where their own bytes do
 * not tell that they are: a damaged one may seem to hold many records. Files with sections, and
 * packed input, can only be read from their end: they are kept in a temporary file until
 * pd_feed_end().
 *
 * Threads: calls on a feed, and on its reader, must not overlap; different feeds are independent.
 */
#ifndef PD_FEED_H
#define PD_FEED_H

#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_feed;

/* Creates a feed. `o` is copied and may be NULL; on_wait and is_cancelled are not called. Returns
 * NULL and *e on failure: PD_E_NOMEM, PD_E_ARGUMENT. Free it with pd_feed_free(). */
PD_API struct pd_feed *pd_feed_new(const struct pd_reader_options *o, struct pd_error *e);

/* Frees the feed, its reader and all that was borrowed from it. `f` may be NULL. */
PD_API void pd_feed_free(struct pd_feed *f);

/* Adds the next bytes, which are copied. Returns 0, or -1 and *e: PD_E_LIMIT if records that are
 * not yet taken exceed the memory limit (take some, and add the same bytes again), PD_E_IO of the
 * temporary file, PD_E_ARGUMENT after pd_feed_end(); or, with the first bytes, the errors of
 * pd_reader_open_fd(), after which the feed can only be freed. */
PD_API int pd_feed_add(struct pd_feed *f, struct pd_bytes bytes, struct pd_error *e);

/* States that no more bytes follow: the records that are left come, the last of which may be cut
 * short. Returns 0, or -1 and *e as pd_feed_add() does. */
PD_API int pd_feed_end(struct pd_feed *f, struct pd_error *e);

/* Reads the next record, as pd_reader_next() does. Returns 1 and sets *out, valid until the next
 * call that adds bytes or reads; 0 if more bytes are needed, or after pd_feed_end() at the end; -1
 * and *e when reading cannot continue. */
PD_API int pd_feed_next(struct pd_feed *f, const struct pd_record **out, struct pd_error *e);

/* Returns the reader, for events and features, and for records in batches; where bytes are missing,
 * its functions fail with PD_E_AGAIN. NULL before the first 16 bytes, or the end of a file with
 * sections. Valid until pd_feed_free(). */
PD_API struct pd_reader *pd_feed_reader(struct pd_feed *f);

#ifdef __cplusplus
}
#endif
#endif
