/* json.c - records, events and features as lines of JSON, through the sink of libdecode. */
#include "pass/columns_internal.h"

#include <string.h>

static int append_output(void *ctx, const void *p, size_t n)
{
	struct pd_buf *b = ctx;

	pd_buf_append(b, p, n);
	return b->failed ? -1 : 0;
}

static struct pd_sink *make_sink(struct pd_buf *b, enum pd_json_parts parts)
{
	return pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES, .blobs = PD_BLOBS_OMIT,
						.parts = parts),
				(struct pd_output){ append_output, b });
}

void pc_json_free(struct pc_json *j)
{
	pd_sink_free(j->sink);
	pd_buf_free(&j->line);
	pd_buf_free(&j->header);
}

static struct pd_bytes first_line(struct pd_bytes text)
{
	const uint8_t *end = text.size ? memchr(text.data, '\n', text.size) : NULL;

	return (struct pd_bytes){ text.data, end ? (size_t)(end - text.data) : text.size };
}

/* Begins the sink of records. Returns 0, or -1 without memory. */
static int begin_records(struct pc_columns *c)
{
	struct pc_json *j = &c->json;

	j->sink = make_sink(&j->line, PD_JSON_RECORDS);
	if (!j->sink || pd_sink_begin(j->sink, c->reader))
		return -1;
	pd_sink_wait(j->sink);
	return 0;
}

struct pd_bytes pc_json_of_record(struct pc_columns *c, const struct pd_record *r)
{
	struct pc_json *j = &c->json;
	int err = j->sink ? 0 : begin_records(c);

	j->line.size = 0;
	err = err || pd_sink_record(j->sink, r);
	if (!err)
		pd_sink_wait(j->sink);
	if (err || j->line.failed)
		pc_note_refusal(c, -1);
	return first_line(pd_buf_bytes(&j->line));
}

/* Drops the summary: no row is of it. */
static void drop_last_line(struct pd_buf *b)
{
	if (b->size)
		b->size--;
	while (b->size && b->data[b->size - 1] != '\n')
		b->size--;
}

static void make_header(struct pc_columns *c)
{
	struct pc_json *j = &c->json;
	struct pd_sink *sink = make_sink(&j->header, PD_JSON_HEADER);

	if (!sink || pd_sink_begin(sink, c->reader) || pd_sink_finish(sink, c->reader) ||
	    j->header.failed)
		pc_note_refusal(c, -1);
	pd_sink_free(sink);
	drop_last_line(&j->header);
	j->is_made = true;
}

struct pd_bytes pc_json_next_line(struct pc_columns *c, const char *prefix)
{
	const size_t n = strlen(prefix);
	struct pc_json *j = &c->json;

	if (!j->is_made)
		make_header(c);
	while (j->at < j->header.size) {
		const struct pd_bytes line = first_line((struct pd_bytes){
			j->header.data + j->at, j->header.size - j->at });

		j->at += line.size + 1;
		if (line.size > n && memcmp(line.data, prefix, n) == 0)
			return (struct pd_bytes){ line.data + n, line.size - n };
	}
	return (struct pd_bytes){ NULL, 0 };
}
