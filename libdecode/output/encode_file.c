/* encode_file.c - write a file with the layout that its JSON states, if that still fits, else with
 * perf's layout.
 */
#include "output/encode.h"

#include <string.h>
#include <unistd.h>

#include "layout/container.h"

#define DEFAULT_ATTR_SIZE 128

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
		if (strcmp(enc->stated.sections[i].name, "feature") == 0 &&
		    enc->stated.sections[i].feature == id)
			return &enc->stated.sections[i];
	return NULL;
}

/* Readers find no events in smaller entries, and attr sizes have 16 bits. */
static int check_attr_size(const struct pd_encoder *enc, struct pd_encode_error *e)
{
	const uint64_t size = enc->stated.attr_size;

	if (!enc->session.nr_attrs ||
	    (size >= PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE && size <= UINT16_MAX))
		return 0;
	return pd_encode_fail(e, PD_E_SIZE, "file.attr_size", "expected 80 to 65535 bytes");
}

/* Makes entries of attrs large enough for every event. */
static void fit_attr_size(struct pd_encoder *enc)
{
	const struct pd_session *s = &enc->session;

	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->bytes.size + PD_SECTION_SIZE > enc->stated.attr_size)
			enc->stated.attr_size = s->attrs[i]->bytes.size + PD_SECTION_SIZE;
}

/* The data section begins after header, ids and attrs, unless the JSON states its offset. */
int pd_encode_begin_file(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	uint64_t at = PD_FILE_HEADER_SIZE;

	if (!enc->stated.attr_size)
		fit_attr_size(enc);
	/* readers divide by it, even without events */
	if (!enc->stated.attr_size && !enc->stated.has_sections)
		enc->stated.attr_size = DEFAULT_ATTR_SIZE + PD_SECTION_SIZE;
	if (check_attr_size(enc, e))
		return -1;
	for (size_t i = 0; i < s->nr_attrs; i++)
		at += s->attrs[i]->nr_ids * sizeof(uint64_t) + enc->stated.attr_size;
	enc->data_offset = !enc->converts && enc->stated.has_sections ? enc->stated.data_offset :
		at;
	enc->out.offset = enc->data_offset;
	/* an invalid offset is an error only if data follows */
	if (enc->data_offset > INT64_MAX ||
	    lseek(enc->out.fd, (off_t)enc->data_offset, SEEK_SET) < 0)
		enc->offset_invalid = true;
	return 0;
}

static int write_at(struct pd_encoder *enc, uint64_t offset, const struct pd_buf *bytes,
		    struct pd_encode_error *e)
{
	if (bytes->failed)
		return pd_encode_fail(e, PD_E_LIMIT, "", "the memory limit is too low");
	if (!bytes->size)
		return 0;
	if (offset > (uint64_t)INT64_MAX - bytes->size)
		return pd_encode_fail(e, PD_E_SIZE, "file.sections",
				      "exceeds the size of any file");
	return pd_out_at(&enc->out, offset, bytes->data, bytes->size) ?
		pd_encode_io(e, enc->out.failed) : 0;
}

/* Returns whether there are as many events as the stated section has entries before the end of the
 * file. More would be written over what follows it. */
static bool attrs_fit(const struct pd_encoder *enc, const struct pd_section *attrs, uint64_t end)
{
	const uint64_t stride = enc->stated.attr_size;
	uint64_t size = attrs->offset < end ? end - attrs->offset : 0;

	if (stride < PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE || stride > UINT16_MAX)
		return !enc->session.nr_attrs;
	if (size > attrs->size)
		size = attrs->size;
	return enc->session.nr_attrs == size / stride;
}

/* Returns whether the packed feature has the size of its stated section, or of the part of it
 * before `end`, where the file ends. */
static bool feature_fits(const struct pd_encoder *enc, uint32_t id, uint64_t end)
{
	const struct pd_section *f = stated_feature(enc, id);
	const size_t size = enc->features[id].bytes.size;

	if (!f)
		return !enc->features[id].given;
	if (size == f->size || (f->unread && !enc->features[id].given))
		return true;
	if (size > f->size)
		return false;
	if (id == PD_FEATURE_TRACING_DATA && f->size - size < 8)	/* followed by padding */
		return true;
	return f->offset >= end || f->offset + size == end;
}

/* Returns whether all packed parts have the sizes that the JSON states. */
static bool fits_stated_layout(struct pd_encoder *enc)
{
	const struct pd_section *data = stated_section(enc, "data");
	const struct pd_section *attrs = stated_section(enc, "attrs");
	const uint64_t end = enc->stated.has_size ? enc->stated.size : UINT64_MAX;
	uint64_t written = enc->out.offset - enc->data_offset;

	if (enc->converts || !enc->stated.has_sections || !data || !attrs ||
	    !attrs_fit(enc, attrs, end) || !pd_encode_ids_fit(enc))
		return false;
	if (written != data->size && !(written < data->size && enc->data_offset + written == end))
		return enc->data_offset > end && !written;
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++)
		if (!feature_fits(enc, id, end))
			return false;
	return true;
}

static int write_ids(struct pd_encoder *enc, const struct pd_attr *a, uint64_t offset,
		     uint64_t size, struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	uint8_t id[8];
	int err;

	for (size_t i = 0; i < a->nr_ids && (i + 1) * sizeof(id) <= size; i++) {
		pd_store(id, a->ids[i], sizeof(id), enc->session.swap);
		pd_buf_append(&bytes, id, sizeof(id));
	}
	err = write_at(enc, offset, &bytes, e);
	pd_buf_free(&bytes);
	return err;
}

/* Composing our own values fails only if out of memory. */
static int write_composed(struct pd_encoder *enc, int err, uint64_t offset,
			  const struct pd_buf *bytes, struct pd_encode_error *e)
{
	return err ? pd_encode_no_memory(e) : write_at(enc, offset, bytes, e);
}

/* Writes an entry of the attrs section. */
static int write_attr(struct pd_encoder *enc, const struct pd_attr *a, uint64_t at,
		      struct pd_section ids, struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	int err;

	pd_buf_append(&bytes, a->bytes.data, a->bytes.size);
	while (bytes.size + PD_SECTION_SIZE < enc->stated.attr_size && !bytes.failed)
		pd_buf_append(&bytes, "", 1);
	err = pd_compose_section(&enc->session, ids.offset, ids.size, &bytes);
	err = write_composed(enc, err, at, &bytes, e);
	pd_buf_free(&bytes);
	return err;
}

/* Cuts off the part of the header over which the data lie, if these have all of it: a damaged
 * header states that offset. */
static void leave_to_data(const struct pd_encoder *enc, struct pd_buf *header)
{
	const struct pd_stated *stated = &enc->stated;
	const uint64_t end = stated->has_size && stated->size < header->size ? stated->size :
		header->size;

	if (stated->data_offset < end && enc->out.offset >= end)
		header->size = (size_t)stated->data_offset;
}

enum header_form { HEADER_AS_STATED, HEADER_DEFAULT };

static int write_header(struct pd_encoder *enc, const struct pd_header_values *h,
			enum header_form form, struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	int err;

	if (pd_feature_words_misread(&enc->session, h))
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.adds_features", "FEATURE_35 "
				      "without HOSTNAME would be read as HOSTNAME of a 32-bit "
				      "machine in a big-endian file");
	err = pd_compose_header(&enc->session, h, &bytes);
	if (!err && form == HEADER_AS_STATED) {
		pd_encode_magic(enc, &bytes);
		leave_to_data(enc, &bytes);
	}
	err = write_composed(enc, err, 0, &bytes, e);
	pd_buf_free(&bytes);
	return err;
}

static int write_table_entry(struct pd_encoder *enc, uint64_t at, uint64_t offset, uint64_t size,
			     struct pd_encode_error *e)
{
	struct pd_buf bytes = { .budget = &enc->budget };
	const int err = write_composed(enc, pd_compose_section(&enc->session, offset, size, &bytes),
				       at, &bytes, e);

	pd_buf_free(&bytes);
	return err;
}

/* Writes the features at their stated offsets, and the tables. A feature has its entry in perf's
 * table, or, without a bit in the header, in the own one; that of a damaged own table is in the
 * gaps. */
static int write_stated_features(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_section *own_table = stated_section(enc, "own_feature_table");
	struct pd_section own[PD_OWN_FEATURES_MAX];
	struct pd_buf bytes = { .budget = &enc->budget };
	uint64_t table = enc->stated.data_offset + enc->stated.data_size;
	size_t n = 0;
	int err;

	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		const struct pd_section *f = stated_feature(enc, id);

		if (!f)
			continue;
		if (enc->features[id].bytes.size &&
		    write_at(enc, f->offset, &enc->features[id].bytes, e))
			return -1;
		if (pd_feature_is_own(id) && !enc->stated.adds_features[id]) {
			own[n++] = *f;
			continue;
		}
		if (write_table_entry(enc, table, f->offset, f->size, e))
			return -1;
		table += PD_SECTION_SIZE;
	}
	if (!own_table)
		return 0;
	err = write_composed(enc, pd_compose_own_table(&enc->session, own, n, &bytes),
			     own_table->offset, &bytes, e);
	pd_buf_free(&bytes);
	return err;
}

/* Writes the i-th attribute and its ids at their stated offsets. */
static int write_stated_attr(struct pd_encoder *enc, const struct pd_section *attrs, size_t i,
			     struct pd_encode_error *e)
{
	const uint64_t end = enc->stated.has_size ? enc->stated.size : UINT64_MAX;
	const struct pd_section *ids = pd_map_find(&enc->stated.ids, i);
	const struct pd_section none = { .offset = 0 };
	const struct pd_attr *a = enc->session.attrs[i];

	/* ids beyond the end of the file, or unread, are known from EVENT_DESC only */
	if (ids && !ids->unread && ids->offset < end &&
	    write_ids(enc, a, ids->offset, ids->size < end - ids->offset ? ids->size :
		      end - ids->offset, e))
		return -1;
	return write_attr(enc, a, attrs->offset + i * enc->stated.attr_size, ids ? *ids : none, e);
}

/* Writes every part at its stated offset. */
static int write_stated_layout(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_section *attrs = stated_section(enc, "attrs"),
				*types = stated_section(enc, "event_types");
	struct pd_header_values h = {
		.v1 = enc->stated.v1, .long_size = (uint32_t)enc->stated.long_size,
		.size = enc->stated.header_size,
		.attr_size = enc->stated.attr_size, .attrs = *attrs,
		.data = { .offset = enc->stated.data_offset, .size = enc->stated.data_size },
	};

	if (types)
		h.event_types = *types;
	memcpy(h.features, enc->stated.adds_features, sizeof(h.features));
	if (write_header(enc, &h, HEADER_AS_STATED, e) ||
	    (types && write_at(enc, types->offset, &enc->event_types, e)))
		return -1;
	for (size_t i = 0; i < enc->session.nr_attrs; i++)
		if (write_stated_attr(enc, attrs, i, e))
			return -1;
	if (write_stated_features(enc, e))
		return -1;
	for (size_t i = 0; i < enc->nr_gaps; i++)
		if (write_at(enc, enc->gaps[i].offset, &enc->gaps[i].bytes, e))
			return -1;
	enc->wrote_gaps = true;
	if (enc->stated.has_size &&
	    (enc->stated.size > INT64_MAX || ftruncate(enc->out.fd, (off_t)enc->stated.size)))
		return pd_encode_fail(e, PD_E_SIZE, "file.size", "the output can't have this size");
	return 0;
}

/* Writes the tables and features at table->offset, and sets the table's size to that of all. */
static int write_default_features(struct pd_encoder *enc, struct pd_section *table,
				  struct pd_header_values *h, struct pd_encode_error *e)
{
	struct pd_section features[PD_FEATURE_BITS];
	struct pd_buf bytes = { .budget = &enc->budget };
	size_t n = 0;
	int err;

	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++)
		if (enc->features[id].given)
			features[n++] = (struct pd_section){
				.feature = id, .size = enc->features[id].bytes.size };
	err = pd_compose_feature_tables(&enc->session, table->offset, features, n, h, &bytes);
	err = write_composed(enc, err, table->offset, &bytes, e);
	table->size = bytes.size;
	pd_buf_free(&bytes);
	for (size_t i = 0; i < n && !err; i++) {
		err = write_at(enc, features[i].offset, &enc->features[features[i].feature].bytes,
			       e);
		table->size += features[i].size;
	}
	return err;
}

/* Writes perf's layout: header, ids, attrs, data, feature tables, features. */
static int write_default_layout(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	struct pd_header_values h = {
		.long_size = 8, .size = PD_FILE_HEADER_SIZE, .attr_size = enc->stated.attr_size,
		.data = { .offset = enc->data_offset, .size = enc->out.offset - enc->data_offset },
	};
	struct pd_section table = { .offset = enc->out.offset };
	uint64_t ids_at = PD_FILE_HEADER_SIZE, before = PD_FILE_HEADER_SIZE, at;

	if (enc->offset_invalid)
		return pd_encode_fail(e, PD_E_SIZE, "file.data_offset",
				      "exceeds the size of any file");
	h.attrs.size = s->nr_attrs * enc->stated.attr_size;
	h.attrs.offset = enc->data_offset - h.attrs.size;
	for (size_t i = 0; i < s->nr_attrs; i++)
		before += s->attrs[i]->nr_ids * sizeof(uint64_t);
	if (write_default_features(enc, &table, &h, e))
		return -1;
	at = table.offset + table.size;
	if (before + h.attrs.size > enc->data_offset) {
		/* events found late in a pipe go to the end */
		ids_at = (at + 7) & ~7ull;
		h.attrs.offset = ids_at + before - PD_FILE_HEADER_SIZE;
	}
	for (size_t i = 0; i < s->nr_attrs; i++) {
		struct pd_section ids = { .offset = ids_at,
			.size = s->attrs[i]->nr_ids * sizeof(uint64_t) };

		if (write_ids(enc, s->attrs[i], ids.offset, ids.size, e) ||
		    write_attr(enc, s->attrs[i], h.attrs.offset + i * enc->stated.attr_size, ids,
			       e))
			return -1;
		ids_at += ids.size;
	}
	if (h.attrs.offset > enc->data_offset)
		at = h.attrs.offset + h.attrs.size;
	if (at > INT64_MAX || ftruncate(enc->out.fd, (off_t)at))
		return pd_encode_fail(e, PD_E_SIZE, "", "the output can't have this size");
	return write_header(enc, &h, HEADER_DEFAULT, e);
}

int pd_encode_finish_file(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const bool as_stated = fits_stated_layout(enc);

	if (!as_stated)
		fit_attr_size(enc);	/* events after the first record may be larger */
	if (check_attr_size(enc, e))
		return -1;
	return as_stated ? write_stated_layout(enc, e) : write_default_layout(enc, e);
}
