/* sink.c - sinks: a caller's functions, or ours. The loop that fills them is the caller's: see pd/pd.h. */
#include "sink.h"

#include <stdlib.h>
#include <string.h>

struct pd_sink *pd_sink_new(const struct pd_sink_ops *ops, void *state)
{
	struct pd_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	memcpy(&s->ops, ops, ops->size < sizeof(s->ops) ? ops->size : sizeof(s->ops));
	s->state = state;
	return s;
}

void pd_sink_close(struct pd_sink *s)
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
	return s->ops.batch ? s->ops.batch(s->state, r) : 0;
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
