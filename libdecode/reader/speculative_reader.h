/* speculative_reader.h - reads segments of a reader's file in another thread: only records that are
 * simple or have nothing to report. The reader adopts a segment when it arrives at its beginning
 * (pd_reader_adopt()). */
#ifndef PD_READER_SPECULATIVE_READER_H
#define PD_READER_SPECULATIVE_READER_H

#include "reader/reader.h"
#include "stream/segment.h"

struct pd_speculative_reader;

/* Creates a speculative reader. Borrows the reader, which may be read meanwhile, until the reader's
 * session is updated or it continues with another file: see pd_reader_before_update(). `piece` is
 * the number of bytes to have in memory at once. Its memory is charged to the reader's budget.
 * Returns NULL if this reader cannot have one, or without memory. */
struct pd_speculative_reader *pd_speculative_reader_new(struct pd_reader *of, size_t piece);
void pd_speculative_reader_free(struct pd_speculative_reader *b);	/* must be called by the
									 * reader's thread; `b` may
									 * be NULL */

struct pd_session *pd_speculative_reader_session(struct pd_speculative_reader *b);

/* Finds the first record from `from` on. Records that begin before `until` are then read. For
 * `before` see pd_reader_position(). Returns false if no record is found. */
bool pd_speculative_reader_find_segment(struct pd_speculative_reader *b, uint64_t from,
					uint64_t until, const struct pd_sample_head *before);
/* Returns simple records, all of which the caller must take, or NULL: call
 * pd_speculative_reader_next(). Valid until the next call. */
struct pd_batch *pd_speculative_reader_batch(struct pd_speculative_reader *b);
/* Returns a record that is not simple but has nothing to report, or NULL: the segment ends. Valid
 * until the next call. */
const struct pd_record *pd_speculative_reader_next(struct pd_speculative_reader *b);
/* Returns the segment read since pd_speculative_reader_find_segment(). */
const struct pd_segment *pd_speculative_reader_segment(struct pd_speculative_reader *b);

/* --- the reader's side --- */

/* Sets *at to where the next record begins, and *before to the sample before it. Returns false if
 * that is not known. */
bool pd_reader_position(struct pd_reader *r, uint64_t *at, struct pd_sample_head *before);
/* Returns the end of the records of the current file; for a growing file, when it was opened. */
uint64_t pd_reader_end(const struct pd_reader *r);
/* Lets batches end with the record that reaches this offset. */
void pd_reader_batch_until(struct pd_reader *r, uint64_t offset);
/* Continues after the segment. Returns false if it does not begin here, or is empty. */
bool pd_reader_adopt(struct pd_reader *r, const struct pd_segment *done);

#endif
