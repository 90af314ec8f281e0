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

bool pd_reader_pin_batch(struct pd_reader *r, const struct pd_batch *batch,
			 struct pd_window **window)
{
	const bool has_memory = pd_windows_may_pin(&r->budget);

	*window = has_memory ? pd_stream_pin(&r->stream, batch) : NULL;
	return has_memory;
}
