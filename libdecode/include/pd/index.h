/* index.h - places in a recording from which it can be read, noted while it is read once.
 *
 *	struct pd_index *index = pd_index_new(10000);
 *
 *	while (pd_reader_next(first, &record, &e) == 1)
 *		pd_index_add(index, first, 1, &e);
 *	...
 *	pd_reader_start(second, index, i, &e);
 *
 * The second reader then gives the same records as the first did from there on, with the events and
 * names that were known there.
 *
 * Threads: calls on one index must not overlap, except that any number of threads may start readers
 * from one that is complete. Readers are as in pd.h.
 */
#ifndef PD_INDEX_H
#define PD_INDEX_H

#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_index;

struct pd_index_entry {
	uint64_t number;	/* records before it */
	uint64_t offset;	/* of its record, as pd_record_offset(); where compressed records
				 * are before it, it may be that of the last of them */
	uint64_t time;		/* the latest of all records before it, in ns; 0: none has one */
	const char *file;	/* in a directory: "data.3"; NULL: the main file */
};

/* Creates an index of each `every`-th record, at least 1. Returns NULL without memory. Free it with
 * pd_index_free(). */
PD_API struct pd_index *pd_index_new(uint64_t every);

/* Frees the index. `x` may be NULL. */
PD_API void pd_index_free(struct pd_index *x);

/* Counts the n records that the last pd_reader_next() or pd_reader_next_fields() returned, and adds
 * an entry for the record after them where one is due; after damage, for the next record where
 * reading can start. Must be called after each of those calls. Returns 0, or -1 and *e: PD_E_NOMEM,
 * after which the index goes no further; PD_E_ARGUMENT for a stream, which cannot be read again, or
 * for PD_BY_TIME. */
PD_API int pd_index_add(struct pd_index *x, struct pd_reader *r, size_t n, struct pd_error *e);

/* Returns the number of entries. */
PD_API size_t pd_index_nr_entries(const struct pd_index *x);

#ifdef __cplusplus	/* hides the constructor of the struct of that name */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/* Returns the i-th entry, in the order of the records, or NULL after the last. Valid until the next
 * pd_index_add() or pd_index_free(); its `file` as long as the reader that was indexed. */
PD_API const struct pd_index_entry *pd_index_entry(const struct pd_index *x, size_t i);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* Continues the reader at the i-th entry. It must be opened for the same recording, not by time,
 * and have returned no record. Errors in what is before the entry are not reported. Takes constant
 * time, and the time to read the records before it that define events; but where compressed records
 * are before it, all of them are read. Returns 0, or -1 and *e; after another error than
 * PD_E_ARGUMENT the reader can only be freed. */
PD_API int pd_reader_start(struct pd_reader *r, const struct pd_index *x, size_t i,
			   struct pd_error *e);

#ifdef __cplusplus
}
#endif
#endif
