/* sink.c - sinks, and the loop that fills them. */
#include "sink.h"

#include <stdlib.h>

#include "base/argument.h"

struct pd_sink *pd_sink_new_batched(const struct pd_sink_ops *ops, pd_sink_batch_fn batch,
				    void *state)
{
	struct pd_sink *s = ops ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	if (pd_options_take(&s->ops, sizeof(s->ops), ops, ops->size)) {
		free(s);
		return NULL;
	}
	s->batch = batch;
	s->state = state;
	return s;
}

struct pd_sink *pd_sink_new(const struct pd_sink_ops *ops, void *state)
{
	return pd_sink_new_batched(ops, NULL, state);
}

void pd_sink_free(struct pd_sink *s)
{
	if (!s)
		return;
	if (s->ops.free)
		s->ops.free(s->state);
	free(s);
}

int pd_sink_begin(struct pd_sink *s, struct pd_reader *r)
{
	if (!s || !r)
		return -1;
	return s->ops.begin ? s->ops.begin(s->state, r) : 0;
}

int pd_sink_record(struct pd_sink *s, const struct pd_record *r)
{
	if (!s || !r)
		return -1;
	return s->ops.record ? s->ops.record(s->state, r) : 0;
}

int pd_sink_batch(struct pd_sink *s, struct pd_reader *r)
{
	if (!s || !r)
		return -1;
	return s->batch ? s->batch(s->state, r) : 0;
}

int pd_sink_error(struct pd_sink *s, const struct pd_error *e)
{
	if (!s || !e)
		return -1;
	return s->ops.error ? s->ops.error(s->state, e) : 0;
}

int pd_sink_finish(struct pd_sink *s, struct pd_reader *r)
{
	if (!s || !r)
		return -1;
	return s->ops.finish ? s->ops.finish(s->state, r) : 0;
}

void pd_sink_wait(struct pd_sink *s)
{
	if (s && s->ops.wait)
		s->ops.wait(s->state);
}

int pd_pump(struct pd_reader *r, struct pd_sink *s)
{
	const struct pd_record *record;
	struct pd_error e;
	int ret = 0, failed = pd_sink_begin(s, r);

	while (!failed && !(failed = pd_sink_batch(s, r)) &&
	       (ret = pd_reader_next(r, &record, &e)) == 1)
		failed = pd_sink_record(s, record);
	if (!failed && ret < 0) {
		e.severity = PD_FATAL;	/* of a wait that was cancelled, too: nothing follows */
		failed = pd_sink_error(s, &e);
	}
	return failed ? failed : pd_sink_finish(s, r);
}
