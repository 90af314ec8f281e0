/* reader_internal.h - the struct of a reader, shared by its sources. */
#ifndef PD_READER_READER_INTERNAL_H
#define PD_READER_READER_INTERNAL_H

#include "container/header.h"
#include "input/directory.h"
#include "model/order.h"
#include "reader/reader.h"
#include "stream/batch.h"

#define PD_NR_HOT_FIELDS 9

/* A number at a place that is the same in all records of a body's and a trailer's plan. */
struct pd_load {
	const struct pd_op *op;
	uint32_t at;			/* of the body, of the trailer */
	bool in_trailer;
	uint8_t to, width;
	uint8_t same; /* the width of both sides where it is one; 0: they differ */
	uint32_t bit; /* enum pd_fields_bit */
};

#define PD_NR_LOADS 8	/* types of records that come by turns */

/* Where the numbers are that one caller wants of records of one type. */
struct pd_loads {
	const struct pd_plan *body, *trailer;
	uint32_t type, want;
	uint32_t has, nr;
	struct pd_load loads[PD_NR_HOT_FIELDS];
};

struct pd_reader {
	struct pd_reader_options options;
	struct pd_budget budget;
	struct pd_source *source;
	struct pd_fed fed;
	struct pd_session session;
	struct pd_container container;
	struct pd_stream stream;
	struct pd_frame read;		/* the last one read, while `order` returns others */
	struct pd_error cut;		/* why `read` is cut short */
	struct pd_record record;	/* the last one returned */
	uint32_t generation;		/* counts batches, and records that come alone */
	struct pd_batch batch;		/* simple records that come next */
	struct pd_buf tracing_data;		/* a HEADER_TRACING_DATA record with its payload */
	struct pd_buf feature;		/* the last feature section that was loaded */
	struct pd_feature *kept;	/* features of a pipe: their records are gone */
	size_t nr_kept;
	struct pd_arena kept_bytes;
	struct pd_order *order;
	unsigned int copies_tried;	/* records that fit no attribute of a pipe, nor a copy */
	uint32_t updates;		/* of the session, and of what records are of */
	struct pd_loads loads[PD_NR_LOADS];	/* of the last records, by their type */
	bool has_last;			/* `last` comes after those that `order` has */
	struct pd_record last;
	bool drained;			/* `order` has all records; `ended` has the error that ended
					 * the reading */
	struct pd_error ended;
	bool pipe_done;
	bool is_directory;
	struct pd_directory directory;
	size_t next_file;
	const char *file;		/* the file that is being read; NULL: the main file */
	struct pd_source *file_source;
	struct pd_account account;	/* of files that were read completely; pd_reader_repair()
					 * adds to it */
	struct pd_error stopped;	/* the error that reached options.stop_at */
	bool said_limit;		/* an error was about a limit of memory */
	void (*quiesce)(void *ctx);	/* called before the session changes; may be NULL */
	void *quiesce_ctx;
};

/* Reports damage in a file of a directory (NULL: the main file). */
void pd_reader_report_in_file(struct pd_reader *r, const struct pd_error *e, const char *file);

/* Updates the session from the last record, if it is about events or the machine. */
int pd_reader_update_session(struct pd_reader *r, struct pd_error *e);

/* Returns how many data.N the features of a directory tell that it has; 0 if they do not. */
size_t pd_reader_directory_files(struct pd_reader *r);

/* Continues with the next data.N of a directory. Returns 1, or 0 if there is none. */
int pd_reader_next_file(struct pd_reader *r);

/* Keeps a copy of the feature that the last record of a pipe has, as far as there is memory. */
void pd_reader_keep_feature(struct pd_reader *r);

/* Adds the account of the file that is being read. */
void pd_reader_account_file(const struct pd_reader *r, struct pd_account *a);

static inline struct pd_source_limits pd_reader_limits(struct pd_reader *r)
{
	return (struct pd_source_limits){ .budget = &r->budget,
		.map_own = r->options.access == PD_MAP_OWN,
		.is_cancelled = r->options.is_cancelled, .ctx = r->options.ctx };
}

/* The two steps of opening: a reader without a source, and what precedes the records. The second
 * frees the reader on failure. Both return NULL and *e then. */
struct pd_reader *pd_reader_create(const struct pd_reader_options *o, struct pd_error *e);
struct pd_reader *pd_reader_begin(struct pd_reader *r, struct pd_error *e);

/* Returns whether records of this type update the session. */
static inline bool pd_reader_updates_session(const struct pd_reader *r, uint32_t type)
{
	return type == PD_RECORD_HEADER_TRACING_DATA || type == PD_RECORD_EVENT_UPDATE ||
	       type == PD_RECORD_HEADER_FEATURE ||
	       (type == PD_RECORD_HEADER_ATTR && r->container.info.mode == PD_MODE_PIPE);
}

/* Returns whether there are simple records to return. */
static inline bool pd_reader_has_batch(struct pd_reader *r)
{
	if (r->batch.next == r->batch.count) {
		pd_stream_batch(&r->stream, &r->batch);
		r->generation++;
	}
	return r->batch.next < r->batch.count;
}

/* Returns whether there is nothing to report. Bytes after a record's fields are not damage, but are
 * always reported. */
static inline bool pd_reader_is_unremarkable(const struct pd_record *r)
{
	return r->frame.state != PD_FRAME_CUT && r->error.code == PD_OK &&
	       (!r->plan || !pd_record_trailing(r).size);
}

#endif
