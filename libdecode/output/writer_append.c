/* writer_append.c - what all parts of a writer stand on: appending bytes and records of its own,
 * and the errors of values. */
#include <string.h>

#include "base/argument.h"
#include "layout/records.h"
#include "output/writer_internal.h"

int pd_writer_fail_pack(struct pd_writer *w, const char *name, uint32_t type,
		     const struct pd_pack_error *p, struct pd_error *e)
{
	const char *path = w->pack_error.path;
	size_t n = name ? strlen(name) : 0;

	w->pack_error = *p;
	if (n && strncmp(path, name, n) == 0 && (path[n] == '.' || path[n] == '\0'))
		path += n + (path[n] == '.');
	*e = (struct pd_error){ .code = w->pack_error.code, .severity = PD_FATAL,
				.record_type = type, .record = name,
				.field = path[0] ? path : NULL, .text = w->pack_error.text };
	return -1;
}

int pd_writer_fail_own_values(enum pd_code code, const char *name, struct pd_error *e)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .record = name,
				.text = "the names or ids of the events are too long for it" };
	return -1;
}

/* Records belong between begin and finish: earlier they would precede the header, later the header
 * would no longer match. */
int pd_writer_require_recording(const struct pd_writer *w, struct pd_error *e)
{
	if (!w)
		return pd_refuse(e, "no writer");
	if (w->stage == RECORDING)
		return 0;
	return pd_refuse(e, w->stage >= ENDED ?
			     "the writer has finished and can only be freed" :
			     "pd_writer_begin() must be called first");
}

void pd_writer_notify_watch(void *writer, struct pd_bytes bytes)
{
	const struct pd_writer *w = writer;

	if (w->options.watch && w->watching)
		w->options.watch(w->options.ctx, bytes);
}

/* Flushes the compressor first, to keep the order. */
int pd_writer_append(struct pd_writer *w, const void *p, size_t n)
{
	int err;

	if (w->async)
		return pd_async_writer_copy(w->async, (struct pd_bytes){ p, n });
	pd_writer_notify_watch(w, (struct pd_bytes){ p, n });
	err = w->compressor ? pd_compressor_flush(w->compressor, &w->out) : 0;
	return err ? err : pd_out_append(&w->out, p, n);
}

const char *pd_writer_record_name(uint32_t type)
{
	const struct pd_record_desc *d = pd_record_desc(type);

	return d ? d->name : NULL;
}

int pd_writer_compose(struct pd_writer *w, const struct pd_compose_record *r,
		      const struct pd_value *fields, size_t n, struct pd_pack_error *p)
{
	const struct pd_value object = PD_OBJECT(NULL, fields, n);

	w->scratch.size = 0;
	return pd_compose_record(&w->session, &pd_value_values, r, &object, &w->scratch, p);
}

int pd_writer_own_record(struct pd_writer *w, uint32_t type, const struct pd_value *fields,
			    size_t n, struct pd_error *e)
{
	const struct pd_compose_record r = { .type = type, .size = PD_SIZE_OPEN,
		.cut = PD_SIZE_OPEN };
	struct pd_pack_error p;

	if (pd_writer_compose(w, &r, fields, n, &p))
		return pd_writer_fail_own_values(p.code, pd_writer_record_name(type), e);
	return pd_writer_check_io(pd_writer_append(w, w->scratch.data, w->scratch.size), e);
}
