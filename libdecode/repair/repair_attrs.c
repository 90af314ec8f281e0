/* repair_attrs.c - attributes that are damaged or lost: those of a file are in its header, those of
 * a pipe in HEADER_ATTR records. */
#include "repair/repair_internal.h"

struct attr_place {
	const struct pd_attr *attr;
	uint64_t at;		/* of the record in the output */
	size_t size;
};

void pd_repair_append_attr(struct pd_repair *p, const struct pd_attr *a, size_t size,
			   uint64_t ids_at)
{
	uint8_t *at = pd_buf_reserve(&p->buf, size);
	const size_t have = a->bytes.size < size ? a->bytes.size : size;
	uint32_t own;

	if (!at)
		return;
	memset(at, 0, size);
	memcpy(at, a->bytes.data, have);
	own = pd_attr_size_load(at, p->session->swap);
	p->report->attrs_recovered += a->is_restored;
	if (own && (own < PD_ATTR_SIZE_VER0 || own > size)) {
		pd_store(at + PD_ATTR_SIZE_AT, size, 4, p->session->swap);
		p->report->attrs_recovered++;
	}
	p->buf.size += size;
	pd_compose_section(p->session, a->nr_ids ? ids_at : 0, a->nr_ids * sizeof(uint64_t),
			   &p->buf);
}

bool pd_repair_is_wrong_attr(const struct pd_repair *p, const struct pd_record *r)
{
	const struct pd_session *s = p->session;

	return r->frame.type == PD_RECORD_HEADER_ATTR && r->frame.state == PD_FRAME_WHOLE &&
	       pd_reader_file(p->reader)->mode == PD_MODE_PIPE && s->nr_attrs > p->attrs_done &&
	       s->attrs[s->nr_attrs - 1]->has_wrong_size;
}

/* Appends a HEADER_ATTR record of an event. */
static int write_header_attr(struct pd_repair *p, const struct pd_attr *a, struct pd_error *e)
{
	const size_t fixed = PD_RECORD_HEADER_SIZE + a->bytes.size;
	const size_t most = (UINT16_MAX - fixed) / sizeof(uint64_t);
	const size_t nr_ids = a->nr_ids < most ? a->nr_ids : most;
	const size_t size = fixed + nr_ids * sizeof(uint64_t);
	const struct pd_record_header h = { PD_RECORD_HEADER_ATTR, 0, (uint16_t)size };
	uint8_t *at = pd_buf_reserve(&p->buf, size);

	if (!at)
		return pd_repair_fail(e, PD_E_LIMIT, 0);
	pd_record_header_store(at, h, p->session->swap);
	at += PD_RECORD_HEADER_SIZE;
	memcpy(at, a->bytes.data, a->bytes.size);
	at += a->bytes.size;
	for (size_t i = 0; i < nr_ids; i++)
		pd_store(at + i * sizeof(uint64_t), pd_session_own_id(p->session, a, i),
			 sizeof(uint64_t), p->session->swap);
	p->buf.size += size;
	p->report->attrs_recovered++;
	p->report->records++;
	return pd_repair_flush(p, e);
}

int pd_repair_write_lost_attrs(struct pd_repair *p, struct pd_error *e)
{
	const struct pd_session *s = p->session;

	for (; p->attrs_done < s->nr_attrs; p->attrs_done++)
		if ((s->attrs[p->attrs_done]->has_wrong_size ||
		     s->attrs[p->attrs_done]->has_no_record) &&
		    write_header_attr(p, s->attrs[p->attrs_done], e))
			return -1;
	return 0;
}

int pd_repair_note_attr(struct pd_repair *p, const struct pd_record *r, uint64_t at,
			struct pd_error *e)
{
	const struct pd_session *s = p->session;
	const struct attr_place place = { s->nr_attrs ? s->attrs[s->nr_attrs - 1] : NULL, at,
		r->frame.bytes.size };

	/* the last event is that of the record, if it has added one */
	if (!place.attr || place.attr->has_no_record || r->frame.inner_offset != PD_OUTER ||
	    pd_reader_file(p->reader)->mode != PD_MODE_PIPE)
		return 0;
	pd_buf_append(&p->attr_places, &place, sizeof(place));
	return p->attr_places.failed ? pd_repair_fail(e, PD_E_LIMIT, 0) : 0;
}

/* Writes the attribute and ids of an event over those of its HEADER_ATTR, which were zeroed. */
static int rewrite_attr(struct pd_repair *p, const struct attr_place *place, struct pd_error *e)
{
	const struct pd_attr *a = place->attr;
	const struct pd_bytes attr = a->whole_copy.size ? a->whole_copy : a->bytes;
	const size_t room = place->size - PD_RECORD_HEADER_SIZE;
	int failed = 0;

	if (attr.size > room)
		return 0;
	p->buf.size = 0;
	pd_buf_append(&p->buf, attr.data, attr.size);
	for (size_t i = 0; i < a->nr_ids && room - p->buf.size >= sizeof(uint64_t); i++) {
		const uint64_t own = pd_session_own_id(p->session, a, i);
		uint8_t id[sizeof(own)];

		pd_store(id, own, sizeof(id), p->session->swap);
		if (own)
			pd_buf_append(&p->buf, id, sizeof(id));
	}
	if (p->buf.failed)
		return pd_repair_fail(e, PD_E_LIMIT, 0);
	failed = pd_out_at(&p->out, place->at + PD_RECORD_HEADER_SIZE, p->buf.data, p->buf.size);
	p->buf.size = 0;
	p->report->attrs_recovered++;
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : 0;
}

int pd_repair_rewrite_attrs(struct pd_repair *p, struct pd_error *e)
{
	for (size_t at = 0; at < p->attr_places.size; at += sizeof(struct attr_place)) {
		struct attr_place place;

		memcpy(&place, p->attr_places.data + at, sizeof(place));
		if (place.attr->is_restored && rewrite_attr(p, &place, e))
			return -1;
	}
	return 0;
}
