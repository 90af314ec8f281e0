/* arrow_stream.c - one table as an ArrowArrayStream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_export.h"
#include "base/argument.h"
#include "pass/columns_internal.h"

/* Batches that a step made, oldest first: a step of `errors` can make several. */
struct ready {
	struct ArrowArray array;
	struct ready *next;
};

struct stream {
	struct pc_columns *c;
	const struct pc_batch *batch;	/* of the table */
	struct pc_owner owner;
	struct ready *first, **end;
	bool is_done;
	struct pd_error last;		/* after which reading could not continue */
	char text[512];
};

static int keep_batch(void *ctx, struct pc_batch *b)
{
	struct stream *s = ctx;
	struct ready *new;

	if (b != s->batch)
		return 0;
	new = calloc(1, sizeof(*new));
	if (!new || pc_export_batch(b, &new->array)) {
		free(new);
		return -1;
	}
	*s->end = new;
	s->end = &new->next;
	return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct stream *s = stream->private_data;

	return pc_export_schema(s->batch, s->c->o.uint64, out) ? ENOMEM : 0;
}

/* Makes steps until there is a batch, or the end. Returns 0 or an errno value. */
static int make_batch(struct stream *s)
{
	int refused;

	while (!s->first && !s->is_done) {
		s->is_done = pc_run_step(s->c, &s->last);
		refused = s->c->refused;
		if (refused)
			s->last = (struct pd_error){
				.code = refused == -1 ? PD_E_LIMIT : PD_E_IO,
				.severity = PD_FATAL, .have = (uint64_t)refused };
	}
	if (s->first || s->last.code == PD_OK)
		return 0;
	pd_error_text(&s->last, s->text, sizeof(s->text));
	s->last.code = PD_OK;
	refused = s->c->refused;
	return !refused ? EIO : refused == -1 ? ENOMEM : refused;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *s = stream->private_data;
	struct ready *first;
	const int error = make_batch(s);

	out->release = NULL;
	first = error ? NULL : s->first;
	if (!first)
		return error;
	*out = first->array;
	s->first = first->next;
	if (!s->first)
		s->end = &s->first;
	free(first);
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct stream *s = stream->private_data;

	return s->text[0] ? s->text : NULL;
}

static void free_stream(struct stream *s)
{
	while (s->first) {
		struct ready *first = s->first;

		s->first = first->next;
		first->array.release(&first->array);
		free(first);
	}
	free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;
	const struct pc_owner owner = s->owner;

	free_stream(s);
	stream->release = NULL;
	if (owner.release)
		owner.release(owner.ctx);
}

int pc_open_stream(struct pc_columns *c, struct pd_reader *r, size_t table, struct pc_owner owner,
		   struct ArrowArrayStream *out, struct pd_error *e)
{
	struct pd_error unused;
	struct stream *s;

	e = pd_error_or(e, &unused);
	if (!c || !r || !out || table >= PC_NR_TABLES || !c->batches[table].table)
		return pd_refuse(e, "no tables, no reader, no stream, or not one of the tables");
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	s = calloc(1, sizeof(*s));
	if (!s)
		return -1;
	s->c = c;
	s->batch = &c->batches[table];
	s->owner = owner;
	s->end = &s->first;
	if (pc_begin(c, r, keep_batch, s, e)) {
		free_stream(s);
		return -1;
	}
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream, s };
	e->code = PD_OK;
	return 0;
}
