/* repair.c - writes the readable part of a recording as a valid file; bytes of records are not
 * changed. */
#include "base/argument.h"
#include "repair/repair_internal.h"

static int begin_file(struct pd_repair *p, struct pd_error *e)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	const struct pd_session *s = p->session;
	uint64_t ids_at = PD_FILE_HEADER_SIZE;
	uint8_t number[8];

	p->header = (struct pd_header_values){
		.long_size = info->long_size, .size = PD_FILE_HEADER_SIZE,
		.attr_size = info->attr_size };
	pd_compose_header(p->session, &p->header, &p->buf);
	for (size_t i = 0; i < s->nr_attrs; i++)
		for (size_t k = 0; k < s->attrs[i]->nr_ids; k++) {
			pd_store(number, pd_session_own_id(s, s->attrs[i], k), sizeof(number),
				 s->swap);
			pd_buf_append(&p->buf, number, sizeof(number));
		}
	p->header.attrs.offset = p->buf.size;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		pd_repair_append_attr(p, s->attrs[i], (size_t)info->attr_size - PD_SECTION_SIZE,
				      ids_at);
		ids_at += s->attrs[i]->nr_ids * sizeof(number);
	}
	p->header.attrs.size = p->buf.size - p->header.attrs.offset;
	p->header.data.offset = p->buf.size;
	return pd_repair_flush(p, e);
}

static int begin_output(struct pd_repair *p, struct pd_error *e)
{
	if (pd_reader_file(p->reader)->mode != PD_MODE_PIPE)
		return p->session->nr_attrs ? begin_file(p, e) :
					      pd_repair_fail(e, PD_E_NO_ATTR, 0);
	pd_compose_pipe_header(p->session, &p->buf);
	return pd_repair_flush(p, e);
}

static int copy_records(struct pd_repair *p, struct pd_error *e)
{
	const struct pd_record *r;
	int ret;

	while ((ret = pd_reader_next(p->reader, &r, e)) > 0)
		if (pd_repair_copy_record(p, r, e))
			return -1;
	if (ret < 0 && pd_code_is_of_memory(e->code))
		return -1;
	if (ret < 0)	/* the rest is unreadable: keeps what came before */
		pd_reader_report(p->reader, e);
	return pd_repair_write_lost_attrs(p, e) || pd_repair_rewrite_attrs(p, e) ? -1 : 0;
}

static int finish_output(struct pd_repair *p, struct pd_error *e)
{
	int failed;

	if (!p->report->records)
		return pd_repair_fail(e, PD_E_UNFINISHED, 0);
	if (pd_reader_file(p->reader)->mode != PD_MODE_PIPE) {
		p->header.data.size = p->out.offset - p->header.data.offset;
		if (pd_repair_copy_features(p, e))
			return -1;
		pd_compose_header(p->session, &p->header, &p->buf);
		if (p->buf.failed)
			return pd_repair_fail(e, PD_E_LIMIT, 0);
		failed = pd_out_at(&p->out, 0, p->buf.data, p->buf.size);
		if (failed)
			return pd_repair_fail(e, PD_E_IO, failed);
	} else if (!p->session->nr_attrs) {
		return pd_repair_fail(e, PD_E_NO_ATTR, 0);
	}
	failed = pd_out_flush(&p->out);
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : 0;
}

int pd_reader_repair(struct pd_reader *r, int fd, struct pd_repair_report *report,
		     struct pd_error *e)
{
	struct pd_repair_report unused_report;
	struct pd_repair p = { .reader = r, .report = report ? report : &unused_report };
	struct pd_error unused;
	int failed = -1;

	e = pd_error_or(e, &unused);
	if (!r)
		return pd_refuse(e, "no reader");
	p.session = pd_reader_session(r);
	*p.report = (struct pd_repair_report){ .records = 0 };
	p.buf.budget = p.attr_places.budget = p.session->budget;
	if (pd_out_init(&p.out, fd))
		return pd_repair_fail(e, PD_E_NOMEM, 0);
	if (begin_output(&p, e) == 0 && copy_records(&p, e) == 0 && finish_output(&p, e) == 0)
		failed = 0;
	pd_buf_free(&p.buf);
	pd_buf_free(&p.attr_places);
	pd_out_free(&p.out);
	return failed;
}
