/* sink.c - sinks, and the loop that fills them. */
#include "sink.h"

#include <stdlib.h>
#include <string.h>

struct pd_sink *pd_sink_new_batched(const struct pd_sink_ops *ops, pd_sink_batch_fn batch,
				    void *state)
{
	struct pd_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	memcpy(&s->ops, ops, ops->size < sizeof(s->ops) ? ops->size : sizeof(s->ops));
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
	return s->ops.begin ? s->ops.begin(s->state, r) : 0;
}

int pd_sink_record(struct pd_sink *s, const struct pd_record *r)
{
	return s->ops.record ? s->ops.record(s->state, r) : 0;
}

int pd_sink_batch(struct pd_sink *s, struct pd_reader *r)
{
	return s->batch ? s->batch(s->state, r) : 0;
}

int pd_sink_error(struct pd_sink *s, const struct pd_error *e)
{
	return s->ops.error ? s->ops.error(s->state, e) : 0;
}

int pd_sink_finish(struct pd_sink *s, struct pd_reader *r)
{
	return s->ops.finish ? s->ops.finish(s->state, r) : 0;
}

void pd_sink_wait(struct pd_sink *s)
{
	if (s->ops.wait)
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
	if (!failed && ret < 0)
		failed = pd_sink_error(s, &e);
	return failed ? failed : pd_sink_finish(s, r);
}
