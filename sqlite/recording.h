/* recording.h - a recording that queries read: its history is learned once, each scan is a pass.
 * Opening it learns the tasks; the first scan that needs maps learns them.
 *
 * Numbers of stacks, frames, objects and events belong to one recording. Queries over several add
 * the recording's base to them, so that rows of different recordings never match. */
#ifndef PQ_RECORDING_H
#define PQ_RECORDING_H

#include <sqlite3.h>
#include <sys/types.h>

#include "pd/columns.h"
#include "pd/index.h"

enum { PQ_BASE_SHIFT = 32 };

/* Watches the reading of a recording. Each function may be NULL. */
struct pq_watch {
	/* For each error, once; notes included. Only some queries read payloads: for the first
	 * error of these that a query finds. */
	void (*on_error)(void *ctx, const char *name, const struct pd_error *e);
	/* bytes: read in this pass; total: of the recording, 0: unknown */
	void (*on_progress)(void *ctx, uint64_t bytes, uint64_t total);
	bool (*is_interrupted)(void *ctx);	/* the statement is to end */
	void *ctx;
};

/* The input, and limits as in struct pd_reader_options. */
struct pq_input {
	const char *name;	/* the column `file`; copied */
	int fd;			/* a file, not a stream; borrowed. -1: the name is a path */
	uint64_t memory, max_expanded, max_ratio;
	enum pd_access access;
	unsigned int threads;	/* that may read it at once; 0 and 1: no other than the caller's */
	struct pq_watch watch;
};

struct pq_kept;

struct pq_recording {
	char *name;
	struct pq_input input;		/* .memory is not 0 */
	off_t start;			/* offset of fd */
	struct pd_history *tasks;
	struct pd_history *history;	/* of maps, too; NULL: not learned yet */
	struct pd_index *index;		/* NULL: it is read from its start only */
	size_t nr_parts;		/* that are read at once, for the progress */
	uint64_t records;		/* number of all, of which samples are a part */
	uint64_t errors;		/* parts that are damaged; notes do not count */
	bool reported_payload;		/* the first damage that a query found in payloads */
	bool reported_limit;		/* an error of a limit, as of memory */
	size_t number;			/* in its database */
	sqlite3_int64 base;		/* of its numbers */
	const struct pd_namer *namer;	/* the caller's; NULL: the table symbols is empty */
	struct pq_kept *kept;		/* the caller's: see kept.h */
	uint64_t kept_bytes;
};

/* Opens the recording and learns its tasks. Returns NULL and *e if it can't be opened: as
 * pd_reader_open_path(). `number` counts the recordings of a database. Free it with
 * pq_recording_free(). */
struct pq_recording *pq_recording_new(const struct pq_input *input, size_t number,
				      struct pd_error *e);
void pq_recording_free(struct pq_recording *r);

/* Learns the whole history, unless that was done. Returns 0, or -1 and *e: as
 * pq_recording_new(). */
int pq_recording_learn(struct pq_recording *r, struct pd_error *e);

#define PQ_FROM_START SIZE_MAX

/* A part of a recording. */
struct pq_part {
	size_t entry;		/* of the index, with which it begins; or PQ_FROM_START */
	uint64_t records;	/* 0: to the end */
	uint64_t memory;	/* as pq_input.memory, for the pass */
};

/* The rows that a pass reads. */
struct pq_scan {
	size_t table;		/* of pd/columns.h */
	uint64_t columns;	/* a bit for each that is wanted */
	const struct pd_filter_options *filter;	/* NULL: all rows */
	const struct pq_part *part;		/* NULL: all of the recording */
};

/* Returns whether the rows are samples without the numbers of their frames and stacks: these depend
 * on all samples before, and on what was mapped. */
bool pq_scan_is_of_tasks(const struct pq_scan *scan);

/* Opens a pass. Its stream may be read by another thread; only one from the start shows its
 * progress. The caller's thread must release it. Returns 0, or -1 and *e. */
int pq_recording_scan(struct pq_recording *r, const struct pq_scan *scan,
		      struct ArrowArrayStream *out, struct pd_error *e);

/* Returns whether the query is to end. For the caller's thread. */
bool pq_recording_is_interrupted(const struct pq_recording *r);

/* Gets the next batch of a scan; out->release is NULL at the end, and where reading can't continue,
 * which is an error of the recording. Returns SQLITE_OK, SQLITE_NOMEM, or SQLITE_INTERRUPT. */
int pq_recording_next(struct pq_recording *r, struct ArrowArrayStream *s, struct ArrowArray *out);

#endif
