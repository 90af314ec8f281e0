/* writer_features.c - the features of a recording that is written. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "layout/container.h"
#include "output/writer_internal.h"

#define ZSTD 1

int pd_writer_compose_event_desc(struct pd_writer *w, struct pd_buf *out, struct pd_error *e)
{
	const struct pd_session *s = &w->session;
	struct pd_value *events = calloc(s->nr_attrs + 1, sizeof(*events));
	struct pd_value (*fields)[4] = calloc(s->nr_attrs + 1, sizeof(*fields));
	struct pd_value desc[3], feature;
	const struct pd_value object = PD_OBJECT(NULL, &feature, 1);
	struct pd_pack_error p;
	int err = -1;

	pd_writer_fail(e, PD_E_NOMEM, 0);
	if (!events || !fields)
		goto out;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];

		fields[i][0] = (struct pd_value)PD_BYTES("attr", a->bytes.data, a->bytes.size);
		fields[i][1] = (struct pd_value)PD_NUMBER("nr_ids", a->nr_ids);
		fields[i][2] = (struct pd_value)PD_TEXT("name", a->name);
		fields[i][3] = (struct pd_value)PD_NUMBERS("ids", a->ids, a->nr_ids);
		events[i] = (struct pd_value)PD_OBJECT(NULL, fields[i], 4);
	}
	desc[0] = (struct pd_value)PD_NUMBER("nr", s->nr_attrs);
	desc[1] = (struct pd_value)PD_NUMBER("attr_size", w->header.attr_size - PD_SECTION_SIZE);
	desc[2] = (struct pd_value)PD_ARRAY("events", events, s->nr_attrs);
	feature = (struct pd_value)PD_OBJECT("EVENT_DESC", desc, 3);
	if (pd_compose_feature(&w->session, &pd_value_values, "EVENT_DESC", &object, PD_PREFER_RAW,
			       out, &p))
		pd_writer_fail_own_values(p.code, "EVENT_DESC", e);
	else
		err = 0;
out:
	free(events);
	free(fields);
	return err;
}

/* In a pipe the formats are the payload of a record, padded to 8 bytes. */
static int write_tracing_data(struct pd_writer *w, struct pd_bytes section, struct pd_error *e)
{
	const size_t padded = (section.size + 7) & ~(size_t)7;
	const struct pd_value values[] = { PD_NUMBER("data_size", padded) };

	if (pd_writer_own_record(w, PD_RECORD_HEADER_TRACING_DATA, values, 1, e) ||
	    pd_writer_check_io(pd_writer_append(w, section.data, section.size), e))
		return -1;
	return pd_writer_check_io(
		pd_writer_append(w, (const uint8_t[8]){ 0 }, padded - section.size), e);
}

int pd_writer_store_feature(struct pd_writer *w, uint32_t id, struct pd_bytes section,
			 struct pd_error *e)
{
	const struct pd_value values[] = { PD_NUMBER("feat_id", id),
		PD_BYTES("feature", section.data, section.size) };

	if (w->options.mode == PD_MODE_PIPE) {
		if (id == PD_FEATURE_TRACING_DATA)
			return write_tracing_data(w, section, e);
		if (pd_feature_not_in_pipe(id))
			return 0;
		w->features[id].left_out = !pd_feature_fits_record(id, section.size);
		return w->features[id].left_out ? 0 :
			pd_writer_own_record(w, PD_RECORD_HEADER_FEATURE, values, 2, e);
	}
	w->features[id].given = true;
	w->features[id].bytes.size = 0;
	pd_buf_append(&w->features[id].bytes, section.data, section.size);
	return w->features[id].bytes.failed ? pd_writer_fail(e, PD_E_NOMEM, 0) : 0;
}

static int encode_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value,
			  struct pd_error *e)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);
	struct pd_value named = *value;
	const struct pd_value object = PD_OBJECT(NULL, &named, 1);
	struct pd_buf bytes = { .budget = &w->budget };
	struct pd_pack_error p;
	int err;

	if (!d)
		return pd_refuse(e,
				     "the layout of this feature is unknown: use "
				     "pd_writer_feature_bytes()");
	named.name = d->field->name;
	err = pd_compose_feature(&w->session, &pd_value_values, named.name, &object,
				    PD_PREFER_RAW, &bytes, &p);
	if (err) {
		err = pd_writer_fail_pack(w, named.name, 0, &p, e);
	} else {
		pd_session_update_feature(&w->session, id, pd_buf_bytes(&bytes), 0);
		err = pd_writer_store_feature(w, id, pd_buf_bytes(&bytes), e);
	}
	pd_buf_free(&bytes);
	return err;
}

const char *pd_writer_feature_left_out(const struct pd_writer *w, size_t i)
{
	return w ? pd_feature_left_out(w->features, i) : NULL;
}

int pd_writer_encode_compressed(struct pd_writer *w, struct pd_error *e)
{
	uint64_t in, out;
	struct pd_value values[5], feature = PD_OBJECT("COMPRESSED", values, 5);

	if (!w->compressor || w->features[PD_FEATURE_COMPRESSED].given)
		return 0;
	pd_compressor_sizes(w->compressor, &in, &out);
	values[0] = (struct pd_value)PD_NUMBER("version", 0);
	values[1] = (struct pd_value)PD_NUMBER("type", ZSTD);
	values[2] = (struct pd_value)PD_NUMBER("level", w->options.compress);
	values[3] = (struct pd_value)PD_NUMBER("ratio", out ? in / out : 0);
	values[4] = (struct pd_value)PD_NUMBER("mmap_len", 2 * PD_COMPRESSED_MOST);
	return encode_feature(w, PD_FEATURE_COMPRESSED, &feature, e);
}

/* A file's features may be given early: they are kept until its end. */
static int check_feature_allowed(const struct pd_writer *w, struct pd_error *e)
{
	if (w->options.mode == PD_MODE_DIRECTORY)
		return pd_refuse(e,
				     "a data.N has no features: they belong into the file `data` "
				     "of its directory");
	return w->stage == ADDING_EVENTS && w->options.mode == PD_MODE_FILE ? 0 :
		pd_writer_require_recording(w, e);
}

int pd_writer_feature_bytes(struct pd_writer *w, uint32_t id, struct pd_bytes section,
			    struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!w || !pd_is_span(section))
		return pd_refuse(e, "no writer or no section");
	if (check_feature_allowed(w, e))
		return -1;
	return id < PD_FEATURE_BITS ? pd_writer_store_feature(w, id, section, e) :
		pd_refuse(e, "no feature has this id");
}

int pd_writer_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value,
		      struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!w || !value)
		return pd_refuse(e, "no writer or no value");
	return check_feature_allowed(w, e) ? -1 : encode_feature(w, id, value, e);
}

int pd_writer_write_features(struct pd_writer *w, struct pd_error *e)
{
	struct pd_section features[PD_FEATURE_BITS];
	size_t n = 0;

	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++)
		if (w->features[id].given)
			features[n++] = (struct pd_section){
				.feature = id, .size = w->features[id].bytes.size };
	w->scratch.size = 0;
	if (pd_compose_feature_tables(&w->session, w->out.offset, features, n, &w->header,
				      &w->scratch))
		return pd_writer_fail(e, PD_E_NOMEM, 0);
	pd_out_append(&w->out, w->scratch.data, w->scratch.size);
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		pd_out_append(&w->out, w->features[i].bytes.data, w->features[i].bytes.size);
	return pd_writer_check_io(pd_out_flush(&w->out), e);
}
