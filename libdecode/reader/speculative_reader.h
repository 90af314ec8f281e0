/* speculative_reader.h - reads stretches of a reader's file beside it, in another thread: only what is plain, or of which there is
 * nothing to say. The reader joins it when it comes to where one begins (pd_reader_adopt()). */
#ifndef PD_READER_SPECULATIVE_READER_H
#define PD_READER_SPECULATIVE_READER_H

#include "reader/reader.h"
#include "stream/segment.h"

struct pd_speculative_reader;

/* Borrows the reader, which may be read meanwhile, until it learns something or goes on with another file: see
 * pd_reader_before_update(). `piece`: about as many bytes are to be in memory at once. Its memory is charged to the reader's.
 * NULL: there can't be one, or no memory. */
struct pd_speculative_reader *pd_speculative_reader_new(struct pd_reader *of, size_t piece);
void pd_speculative_reader_free(struct pd_speculative_reader *b);	/* by the reader's thread; NULL is fine */

struct pd_session *pd_speculative_reader_session(struct pd_speculative_reader *b);

/* What begins from `from` on and before `until` is to be read; `before`: see pd_reader_position(). False: nothing is found. */
bool pd_speculative_reader_find_segment(struct pd_speculative_reader *b, uint64_t from, uint64_t until,
				const struct pd_sample_head *before);
/* Plain records, all of them for the caller to take; NULL: ask for a single one. Valid until the next call. */
struct pd_batch *pd_speculative_reader_batch(struct pd_speculative_reader *b);
/* One that is not plain, but unremarkable; NULL: that is all. Valid until the next call. */
const struct pd_record *pd_speculative_reader_next(struct pd_speculative_reader *b);
/* All that was read since it was found. */
const struct pd_segment *pd_speculative_reader_segment(struct pd_speculative_reader *b);

/* --- the reader's side --- */

/* Where the next record begins, and behind which sample. False: nowhere that can be told. */
bool pd_reader_position(struct pd_reader *r, uint64_t *at, struct pd_sample_head *before);
/* Where the records of the file that is being read end; of one that grows, where they did. */
uint64_t pd_reader_end(const struct pd_reader *r);
/* Runs are to end with the record that reaches this offset. */
void pd_reader_batch_until(struct pd_reader *r, uint64_t offset);
/* Goes on behind the stretch. False: it does not begin here, or is none. */
bool pd_reader_adopt(struct pd_reader *r, const struct pd_segment *done);

#endif
