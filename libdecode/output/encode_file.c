/* encode_file.c - lays a file out: where its JSON says things lie, as long as that still fits; else as perf does. */
#include "output/encode.h"

#include <string.h>
#include <unistd.h>

#include "layout/container.h"

#define ATTR_SIZE_USUAL 128

static const struct pd_section *stated_section(const struct pd_encoder *enc, const char *name)
{
	for (size_t i = 0; i < enc->stated.nr_sections; i++)
		if (strcmp(enc->stated.sections[i].name, name) == 0)
			return &enc->stated.sections[i];
	return NULL;
}

static const struct pd_section *stated_feature(const struct pd_encoder *enc, uint32_t id)
{
	for (size_t i = 0; i < enc->stated.nr_sections; i++)
		if (strcmp(enc->stated.sections[i].name, "feature") == 0 && enc->stated.sections[i].feature == id)
			return &enc->stated.sections[i];
	return NULL;
}

/* Readers find no events in entries of another size, and nobody could write those of the largest sizes. */
static int check_attr_size(const struct pd_encoder *enc, struct pd_encode_error *e)
{
	const uint64_t size = enc->stated.attr_size;

	if (!enc->session.nr_attrs || (size >= PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE && size <= UINT16_MAX))
		return 0;
	return pd_encode_fail(e, PD_E_SIZE, "file.attr_size", "80 to 65535 bytes were expected");
}

/* Makes entries of attrs large enough for every event. */
static void fit_attr_size(struct pd_encoder *enc)
{
	const struct pd_session *s = &enc->session;

	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->bytes.size + PD_SECTION_SIZE > enc->stated.attr_size)
			enc->stated.attr_size = s->attrs[i]->bytes.size + PD_SECTION_SIZE;
}

/* Data begin after header, ids and attrs, unless the JSON states where. */
int pd_encode_begin_file(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	uint64_t at = PD_FILE_HEADER_SIZE;

	if (!enc->stated.attr_size)
		fit_attr_size(enc);
	if (!enc->stated.attr_size && !enc->stated.has_sections)
		enc->stated.attr_size = ATTR_SIZE_USUAL + PD_SECTION_SIZE;	/* readers want one, events or not */
	if (check_attr_size(enc, e))
		return -1;
	for (size_t i = 0; i < s->nr_attrs; i++)
		at += s->attrs[i]->nr_ids * sizeof(uint64_t) + enc->stated.attr_size;
	enc->data_offset = !enc->converts && enc->stated.has_sections ? enc->stated.data_offset : at;
	enc->out.offset = enc->data_offset;
	/* where the offset is damage, no data follow */
	if (enc->data_offset > INT64_MAX || lseek(enc->out.fd, (off_t)enc->data_offset, SEEK_SET) < 0)
		enc->nowhere = true;
	return 0;
}

static int put_at(struct pd_encoder *enc, uint64_t offset, const struct pd_buf *bytes, struct pd_encode_error *e)
{
	if (bytes->failed)
		return pd_encode_fail(e, PD_E_LIMIT, "", "the memory limit is too low");
	if (!bytes->size)
		return 0;
	if (offset > (uint64_t)INT64_MAX - bytes->size)
		return pd_encode_fail(e, PD_E_SIZE, "file.sections", "no file can be that large");
	return pd_out_at(&enc->out, offset, bytes->data, bytes->size) ? pd_encode_io(e, enc->out.failed) : 0;
}

/* Does all that was packed still have the sizes that the JSON says it had? */
static bool still_fits(const struct pd_encoder *enc)
{
	const struct pd_section *data = stated_section(enc, "data");
	const uint64_t end = enc->stated.has_size ? enc->stated.size : UINT64_MAX;
	uint64_t written = enc->out.offset - enc->data_offset;

	if (enc->converts || !enc->stated.has_sections || !data || !stated_section(enc, "attrs"))
		return false;
	if (written != data->size && !(written < data->size && enc->data_offset + written == end))
		return enc->data_offset > end && !written;
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		const struct pd_section *f = stated_feature(enc, id);
		const size_t size = enc->features[id].bytes.size;

		if (f && id == PD_FEATURE_TRACING_DATA && size < f->size && f->size - size < 8)
			continue;	/* zeros behind it */
		if (f && f->unread && !enc->features[id].given)
			continue;
		if (!f ? enc->features[id].given :
		    size != f->size && !(size < f->size && (f->offset >= end || f->offset + size == end)))
			return false;
	}
	return true;
}

static int put_ids(struct pd_encoder *enc, const struct pd_attr *a, uint64_t offset, uint64_t size,
		   struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	uint8_t id[8];
	int failed;

	for (size_t i = 0; i < a->nr_ids && (i + 1) * sizeof(id) <= size; i++) {
		pd_store(id, a->ids[i], sizeof(id), enc->session.swap);
		pd_buf_append(&bytes, id, sizeof(id));
	}
	failed = put_at(enc, offset, &bytes, e);
	pd_buf_free(&bytes);
	return failed;
}

/* Our own values always fit: composing fails for want of memory only. */
static int put_composed(struct pd_encoder *enc, int failed, uint64_t offset, const struct pd_buf *bytes,
			struct pd_encode_error *e)
{
	return failed ? pd_encode_no_memory(e) : put_at(enc, offset, bytes, e);
}

/* An entry of the attrs section. */
static int put_attr(struct pd_encoder *enc, const struct pd_attr *a, uint64_t at, struct pd_section ids,
		    struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	int failed;

	pd_buf_append(&bytes, a->bytes.data, a->bytes.size);
	while (bytes.size + PD_SECTION_SIZE < enc->stated.attr_size && !bytes.failed)
		pd_buf_append(&bytes, "", 1);
	failed = pd_compose_section(&enc->session, ids.offset, ids.size, &bytes);
	failed = put_composed(enc, failed, at, &bytes, e);
	pd_buf_free(&bytes);
	return failed;
}

static int put_header(struct pd_encoder *enc, const struct pd_header_values *h, struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	const int failed = put_composed(enc, pd_compose_header(&enc->session, h, &bytes), 0, &bytes, e);

	pd_buf_free(&bytes);
	return failed;
}

static int put_table_entry(struct pd_encoder *enc, uint64_t at, uint64_t offset, uint64_t size, struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	const int failed = put_composed(enc, pd_compose_section(&enc->session, offset, size, &bytes), at, &bytes, e);

	pd_buf_free(&bytes);
	return failed;
}

/* Every part where the JSON says it lay. */
static int finish_as_stated(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_section *attrs = stated_section(enc, "attrs"), *types = stated_section(enc, "event_types");
	const struct pd_session *s = &enc->session;
	const uint64_t end = enc->stated.has_size ? enc->stated.size : UINT64_MAX;
	uint64_t table = enc->stated.data_offset + enc->stated.data_size;
	struct pd_header_values h = {
		.v1 = enc->stated.v1, .long_size = (uint32_t)enc->stated.long_size, .size = enc->stated.header_size,
		.attr_size = enc->stated.attr_size, .attrs = *attrs,
		.data = { .offset = enc->stated.data_offset, .size = enc->stated.data_size },
	};

	if (types)
		h.event_types = *types;
	memcpy(h.features, enc->stated.adds_features, sizeof(h.features));
	if (put_header(enc, &h, e) || (types && put_at(enc, types->offset, &enc->event_types, e)))
		return -1;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_section *ids = pd_map_find(&enc->stated.ids, i);

		/* ids behind the file's end are known from EVENT_DESC only */
		if (ids && ids->offset < end &&
		    put_ids(enc, s->attrs[i], ids->offset, ids->size < end - ids->offset ? ids->size : end - ids->offset, e))
			return -1;
		if (put_attr(enc, s->attrs[i], attrs->offset + i * enc->stated.attr_size,
			     ids ? *ids : (struct pd_section){ .offset = 0 }, e))
			return -1;
	}
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		const struct pd_section *f = stated_feature(enc, id);

		if (!f)
			continue;
		if (put_table_entry(enc, table, f->offset, f->size, e) ||
		    (enc->features[id].bytes.size && put_at(enc, f->offset, &enc->features[id].bytes, e)))
			return -1;
		table += PD_SECTION_SIZE;
	}
	for (size_t i = 0; i < enc->nr_gaps; i++)
		if (put_at(enc, enc->gaps[i].offset, &enc->gaps[i].bytes, e))
			return -1;
	enc->wrote_gaps = true;
	if (enc->stated.has_size && (enc->stated.size > INT64_MAX || ftruncate(enc->out.fd, (off_t)enc->stated.size)))
		return pd_encode_fail(e, PD_E_SIZE, "file.size", "the output can't have this size");
	return 0;
}

/* As perf lays a file out: header, ids, attrs, data, feature table, features. */
static int finish_anew(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	struct pd_header_values h = {
		.long_size = 8, .size = PD_FILE_HEADER_SIZE, .attr_size = enc->stated.attr_size,
		.data = { .offset = enc->data_offset, .size = enc->out.offset - enc->data_offset },
	};
	uint64_t ids_at = PD_FILE_HEADER_SIZE, table = enc->out.offset, at, before = PD_FILE_HEADER_SIZE;
	size_t n = 0, features = 0;

	if (enc->nowhere)
		return pd_encode_fail(e, PD_E_SIZE, "file.data_offset", "no file can be that large");
	h.attrs.size = s->nr_attrs * enc->stated.attr_size;
	h.attrs.offset = enc->data_offset - h.attrs.size;
	for (size_t i = 0; i < s->nr_attrs; i++)
		before += s->attrs[i]->nr_ids * sizeof(uint64_t);
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		h.features[id] = enc->features[id].given;
		n += enc->features[id].given;
		features += enc->features[id].given ? enc->features[id].bytes.size : 0;
	}
	at = table + n * PD_SECTION_SIZE;
	if (before + h.attrs.size > enc->data_offset) {	/* events that came late in a pipe: behind all the rest */
		ids_at = (at + features + 7) & ~7ull;
		h.attrs.offset = ids_at + before - PD_FILE_HEADER_SIZE;
	}
	for (size_t i = 0; i < s->nr_attrs; i++) {
		struct pd_section ids = { .offset = ids_at, .size = s->attrs[i]->nr_ids * sizeof(uint64_t) };

		if (put_ids(enc, s->attrs[i], ids.offset, ids.size, e) ||
		    put_attr(enc, s->attrs[i], h.attrs.offset + i * enc->stated.attr_size, ids, e))
			return -1;
		ids_at += ids.size;
	}
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		const struct pd_buf *bytes = &enc->features[id].bytes;

		if (!enc->features[id].given)
			continue;
		if (put_table_entry(enc, table, at, bytes->size, e) || put_at(enc, at, bytes, e))
			return -1;
		table += PD_SECTION_SIZE;
		at += bytes->size;
	}
	if (h.attrs.offset > enc->data_offset)
		at = h.attrs.offset + h.attrs.size;
	if (at > INT64_MAX || ftruncate(enc->out.fd, (off_t)at))
		return pd_encode_fail(e, PD_E_SIZE, "", "the output can't have this size");
	return put_header(enc, &h, e);
}

int pd_encode_finish_file(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const bool as_said = still_fits(enc);

	if (!as_said)
		fit_attr_size(enc);	/* events that came after the first record may be larger */
	if (check_attr_size(enc, e))
		return -1;
	return as_said ? finish_as_stated(enc, e) : finish_anew(enc, e);
}
