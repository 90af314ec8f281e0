/* reader_batch.c - batches, for the library's own sinks: see reader.h. */
#include "pd/pd.h"
#include "reader/reader_internal.h"

struct pd_session *pd_reader_session(struct pd_reader *r)
{
	return &r->session;
}

void pd_reader_before_update(struct pd_reader *r, void (*quiesce)(void *ctx), void *ctx)
{
	r->quiesce = quiesce;
	r->quiesce_ctx = ctx;
}

bool pd_reader_is_stopped(const struct pd_reader *r)
{
	return r->stopped.code;
}

struct pd_batch *pd_reader_batch(struct pd_reader *r)
{
	if (r->order || r->stopped.code || !pd_reader_has_batch(r))
		return NULL;
	r->batch.file = r->file;
	return &r->batch;
}

const struct pd_record *pd_reader_peek(struct pd_reader *r)
{
	struct pd_frame *f = &r->record.frame;

	if (r->order || r->stopped.code || r->batch.next < r->batch.count ||
	    !pd_stream_peek(&r->stream, f))
		return NULL;
	if (pd_reader_updates_session(r, f->type))
		return NULL;
	r->record.payload = (struct pd_bytes){ NULL, 0 };
	r->record.file = r->file;
	return pd_record_prepare(&r->record) == 0 && pd_reader_is_unremarkable(&r->record) ?
		       &r->record :
		       NULL;
}

void pd_reader_take(struct pd_reader *r)
{
	pd_stream_take(&r->stream, &r->record.frame);
}

bool pd_reader_pin_batch(struct pd_reader *r, const struct pd_batch *batch,
			 struct pd_window **window)
{
	const bool has_memory = pd_windows_may_pin(&r->budget);

	*window = has_memory ? pd_stream_pin(&r->stream, batch) : NULL;
	return has_memory;
}
