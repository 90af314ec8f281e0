/* reader_internal.h - a reader's inside, for its parts: reader.c, reader_open.c, reader_batch.c, reader_about.c. */
#ifndef PD_READER_READER_INTERNAL_H
#define PD_READER_READER_INTERNAL_H

#include "container/header.h"
#include "input/directory.h"
#include "model/order.h"
#include "reader/reader.h"
#include "stream/batch.h"


struct pd_reader {
	struct pd_reader_options options;
	struct pd_budget budget;
	struct pd_source *source;
	struct pd_session session;
	struct pd_container container;
	struct pd_stream stream;
	struct pd_frame read;		/* the last one read, while `order` gives out others */
	struct pd_error cut;		/* why it is cut */
	struct pd_record record;	/* the last one given out */
	struct pd_batch batch;		/* plain ones that come next */
	struct pd_buf held;		/* a HEADER_TRACING_DATA record with its payload */
	struct pd_buf feature;		/* the last one asked for */
	struct pd_order *order;
	bool drained;			/* order has everything; `ended` says why there is no more */
	struct pd_error ended;
	bool pipe_done;
	bool is_directory;
	struct pd_directory directory;
	size_t next_file;
	const char *file;		/* being read: NULL for data itself */
	struct pd_source *file_source;
	struct pd_account account;	/* of the files that were read to their end; what pd_reader_repair() adds */
	struct pd_error stopped;	/* what options.stop_at made of an error */
	void (*quiesce)(void *ctx);	/* before the session changes; may be NULL */
	void *quiesce_ctx;
};

/* What is wrong, in which file of a directory (NULL: data itself). */
void pd_reader_report_in_file(struct pd_reader *r, const struct pd_error *e, const char *file);

/* Adds the file of a directory, or the only one, that is being read. */
void pd_reader_account_file(const struct pd_reader *r, struct pd_account *a);

static inline struct pd_source_limits pd_reader_limits(struct pd_reader *r)
{
	return (struct pd_source_limits){ .budget = &r->budget, .map_own = r->options.access == PD_MAP_OWN };
}

/* Does a record of this type tell about events and machine? */
static inline bool pd_reader_updates_session(const struct pd_reader *r, uint32_t type)
{
	return type == PD_RECORD_HEADER_TRACING_DATA || type == PD_RECORD_EVENT_UPDATE || type == PD_RECORD_HEADER_FEATURE ||
	       (type == PD_RECORD_HEADER_ATTR && r->container.info.mode == PD_MODE_PIPE);
}

/* Are there plain records to give out? */
static inline bool pd_reader_has_batch(struct pd_reader *r)
{
	if (r->batch.next == r->batch.count)
		pd_stream_batch(&r->stream, &r->batch);
	return r->batch.next < r->batch.count;
}

/* Each record has to be consumed exactly: what its fields leave over is no damage, but never goes without a word. */
static inline bool pd_reader_is_unremarkable(const struct pd_record *r)
{
	return r->frame.state != PD_FRAME_CUT && r->error.code == PD_OK &&
	       (!r->plan || r->extent.end == r->body.size);
}

#endif
