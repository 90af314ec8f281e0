/* header.h - the file around the records: header, attrs, ids, feature table, and what belongs to none of them. */
#ifndef PD_CONTAINER_HEADER_H
#define PD_CONTAINER_HEADER_H

#include "input/source.h"
#include "pd/pd.h"
#include "session/session.h"

/* Told of everything that is wrong. */
struct pd_report {
	void (*error)(void *ctx, const struct pd_error *e);
	void *ctx;
};

struct pd_container {
	struct pd_file_info info;
	enum pd_swap swap;
	struct pd_section *sections, *gaps, *held;
	size_t sections_capacity, gaps_capacity, held_capacity;
	size_t nr_held;			/* spans whose bytes were taken in; "kept": that have to go to the gaps */
	struct pd_section *features;	/* those of sections that are features, ascending; in sections */
	size_t nr_features;
	bool left_out[PD_FEATURE_BITS];	/* there, but not read */
	uint64_t ids_size, features_size;	/* bytes taken in: sections that lie on one another may not multiply a file */
	struct pd_account account;	/* of what is around the records */
	uint64_t data_end;		/* offset behind the last record; UINT64_MAX: the end of the input */
};

/* Looks at the first 16 bytes. 0, or -1: not a perf.data file. Sets mode, byte order, v1, header_size. */
int pd_header_probe(struct pd_bytes first, struct pd_container *c);

/* Reads all but the records of a file: events and ids go to the session, features are learned from. 0, or -1 and *e. */
int pd_header_read(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		   const struct pd_report *report, struct pd_error *e);

/* A section's bytes into `out`, emptied first. Bytes got are all there are: fewer than the section says where the file
 * ends early. -1 and *e: I/O or memory. */
int pd_header_load(struct pd_source *source, const struct pd_section *section, struct pd_buf *out, struct pd_error *e);

void pd_header_free(struct pd_container *c, struct pd_session *s);

#endif
