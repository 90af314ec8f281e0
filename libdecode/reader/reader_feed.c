/* reader_feed.c - a reader of bytes that the caller has: see pd/feed.h. */
#include "base/argument.h"
#include "pd/feed.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "reader/reader_internal.h"

#define HEAD_SIZE 16			/* bytes that are enough to recognize an input */
#define TEMPFILE_LIMIT (4ull << 30)	/* as for a stream that is copied */

struct pd_feed {
	struct pd_reader *reader;	/* NULL: it could not be opened */
	struct pd_error error;		/* why */
	bool is_open, is_known;		/* it is known whether the bytes go to the file */
	bool has_file;
	struct pd_tempfile file;
};

struct pd_feed *pd_feed_new(const struct pd_reader_options *o, struct pd_error *e)
{
	struct pd_feed *f = calloc(1, sizeof(*f));
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!f)
		return NULL;
	f->reader = pd_reader_create(o, e);
	if (!f->reader) {
		free(f);
		return NULL;
	}
	return f;
}

void pd_feed_free(struct pd_feed *f)
{
	if (!f)
		return;
	pd_reader_free(f->reader);
	if (f->has_file)
		pd_tempfile_close(&f->file);
	free(f);
}

/* Opens the reader of the bytes or the file. */
static int open_reader(struct pd_feed *f, struct pd_error *e)
{
	const struct pd_source_limits limits = pd_reader_limits(f->reader);
	struct pd_reader *r = f->reader;

	r->options.on_wait = NULL;
	r->source = f->has_file ? pd_source_open_fd(f->file.fd, PD_FD_BORROWED, &limits, &f->error)
				: pd_source_open_fed(&r->fed, &limits, &f->error);
	if (!r->source)
		pd_reader_free(r);
	else if (pd_reader_begin(r, &f->error))	/* else it is freed */
		f->is_open = true;
	if (f->is_open)
		return 0;
	f->reader = NULL;
	*e = f->error;
	return -1;
}

/* Moves the bytes to the temporary file. */
static int move_to_file(struct pd_feed *f, struct pd_error *e)
{
	struct pd_buf *bytes = &f->reader->fed.bytes;

	if (!f->has_file) {
		if (pd_tempfile_open(&f->file, TEMPFILE_LIMIT, e))
			return -1;
		f->has_file = true;
	}
	if (pd_tempfile_append(&f->file, bytes->data, bytes->size, e))
		return -1;
	bytes->size = 0;
	return 0;
}

/* Does what the bytes so far, or their end, allow. */
static int go_on(struct pd_feed *f, struct pd_error *e)
{
	const struct pd_fed *fed = &f->reader->fed;

	if (f->is_open || (!f->is_known && fed->bytes.size < HEAD_SIZE && !fed->ended))
		return 0;
	if (f->has_file || (!f->is_known && pd_source_has_layers(pd_buf_bytes(&fed->bytes)))) {
		f->is_known = true;
		if (move_to_file(f, e))
			return -1;
		return fed->ended ? open_reader(f, e) : 0;
	}
	f->is_known = true;
	return open_reader(f, e);
}

static int check_call(const struct pd_feed *f, struct pd_error *e)
{
	if (!f)
		return pd_refuse(e, "no feed");
	if (!f->reader) {
		*e = f->error;
		return -1;
	}
	return f->reader->fed.ended ? pd_refuse(e, "the feed has been ended") : 0;
}

int pd_feed_add(struct pd_feed *f, struct pd_bytes bytes, struct pd_error *e)
{
	struct pd_error unused;
	struct pd_fed *fed;

	e = pd_error_or(e, &unused);
	if (check_call(f, e))
		return -1;
	if (!pd_is_span(bytes))
		return pd_refuse(e, "no bytes");
	fed = &f->reader->fed;
	if (fed->taken > fed->bytes.size / 2) {
		pd_buf_consume(&fed->bytes, fed->taken);
		fed->taken = 0;
	}
	pd_buf_append(&fed->bytes, bytes.data, bytes.size);
	if (fed->bytes.failed) {
		fed->bytes.failed = false;
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED,
					.want = bytes.size };
		return -1;
	}
	return go_on(f, e);
}

int pd_feed_end(struct pd_feed *f, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (check_call(f, e))
		return -1;
	f->reader->fed.ended = true;
	return go_on(f, e);
}

int pd_feed_next(struct pd_feed *f, const struct pd_record **out, struct pd_error *e)
{
	struct pd_error unused;
	int ret;

	e = pd_error_or(e, &unused);
	if (!f || !out)
		return pd_refuse(e, "no feed or no place for a record");
	*out = NULL;
	if (!f->reader) {
		*e = f->error;
		return -1;
	}
	if (!f->is_open)
		return 0;
	ret = pd_reader_next(f->reader, out, e);
	return ret < 0 && e->code == PD_E_AGAIN ? 0 : ret;
}

struct pd_reader *pd_feed_reader(struct pd_feed *f)
{
	return f && f->is_open ? f->reader : NULL;
}
