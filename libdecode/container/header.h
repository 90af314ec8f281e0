/* header.h - reads the file around the records: header, attrs, ids, feature table, and gaps. */
#ifndef PD_CONTAINER_HEADER_H
#define PD_CONTAINER_HEADER_H

#include "input/magic.h"
#include "input/source.h"
#include "pd/pd.h"
#include "session/session.h"

/* The receiver of damage reports. */
struct pd_report {
	void (*error)(void *ctx, const struct pd_error *e);
	void *ctx;
};

struct pd_container {
	struct pd_file_info info;
	enum pd_swap swap;
	struct pd_section *sections, *gaps, *ranges;
	size_t sections_capacity, gaps_capacity, ranges_capacity;
	size_t nr_ranges;			/* ranges that were read; those named "kept" become
						 * gaps */
	struct pd_section *features;	/* the features in `sections`, ascending; points into it */
	size_t nr_features;
	bool left_out[PD_FEATURE_BITS];	/* present, but not read */
	bool changed[PD_FEATURE_BITS];	/* has bytes that were inserted, or lacks some */
	uint64_t ids_size, features_size;	/* bytes read: overlapping sections must not
						 * multiply the file's size */
	struct pd_account account;	/* for the bytes around the records */
	uint64_t data_end;		/* offset of the end of the records; UINT64_MAX: the end of
					 * the input */
	uint64_t features_moved;	/* by which features are after their stated offsets, modulo
					 * 2^64: bytes were inserted before them, or removed */
	uint64_t ids_moved;		/* by which ids are after theirs */
	bool ids_doubtful;		/* before the end of the attributes: ids may be at another
					 * offset than stated; EVENT_DESC has them */
};

/* Checks the first 16 bytes and sets mode, byte order, v1 and header_size. Returns 0, or -1 if this
 * is not a perf.data file. */
int pd_header_probe(struct pd_bytes first, struct pd_container *c);

/* Reads all of a file except its records, and updates the session with events, ids and features.
 * Returns 0, or -1 and *e. */
int pd_header_read(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		   const struct pd_report *report, struct pd_error *e);

void pd_header_free(struct pd_container *c, struct pd_session *s);

#endif
