/* encode_pipe.c - write the start of a pipe: records that contain a file's header. */
#include "output/encode.h"

#include <string.h>

#include "layout/container.h"

static int write_record(struct pd_encoder *enc, uint32_t type, const struct pd_value *values,
			size_t n, struct pd_bytes payload, struct pd_encode_error *e)
{
	const struct pd_compose_record r = { .type = type, .size = PD_SIZE_OPEN,
		.cut = PD_SIZE_OPEN };
	const struct pd_value object = PD_OBJECT(NULL, values, n);
	struct pd_buf bytes = { .budget = &enc->budget };
	struct pd_pack_error p;
	int err = 0;

	if (pd_compose_record(&enc->session, &pd_value_values, &r, &object, &bytes, &p)) {
		pd_buf_free(&bytes);
		return pd_encode_fail(e, p.code, p.path, p.text);
	}
	err = pd_out_append(&enc->out, bytes.data, bytes.size);
	if (!err && payload.size)
		err = pd_out_append(&enc->out, payload.data, payload.size);
	pd_buf_free(&bytes);
	return err ? pd_encode_io(e, err) : 0;
}

static int write_attr(struct pd_encoder *enc, const struct pd_attr *a, struct pd_encode_error *e)
{
	uint64_t own = pd_attr_size_load(a->bytes.data, enc->session.swap);
	const size_t size = own >= PD_ATTR_SIZE_VER0 && own <= a->bytes.size ? (size_t)own :
		a->bytes.size;
	const struct pd_value values[] = { PD_BYTES("attr", a->bytes.data, size),
		PD_NUMBERS("ids", a->ids, a->nr_ids) };

	return write_record(enc, PD_RECORD_HEADER_ATTR, values, 2, (struct pd_bytes){ NULL, 0 }, e);
}

/* The section's items are records without a type. */
static int write_build_ids(struct pd_encoder *enc, struct pd_bytes section,
			   struct pd_encode_error *e)
{
	struct pd_cursor c = pd_cursor(section, enc->session.swap);

	while (pd_left(&c) >= PD_RECORD_HEADER_SIZE) {
		struct pd_record_header h = pd_record_header_load(c.at, c.swap);
		uint8_t header[PD_RECORD_HEADER_SIZE];
		const uint8_t *item;
		int err;

		item = h.size < sizeof(header) ? NULL : pd_take(&c, h.size);
		if (!item)
			break;
		h.type = PD_RECORD_HEADER_BUILD_ID;
		pd_record_header_store(header, h, c.swap);
		err = pd_out_append(&enc->out, header, sizeof(header));
		if (!err)
			err = pd_out_append(&enc->out, item + sizeof(header),
					    h.size - sizeof(header));
		if (err)
			return pd_encode_io(e, err);
	}
	return 0;
}

static int write_features(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_composed_feature *tracing = &enc->features[PD_FEATURE_TRACING_DATA];
	const struct pd_bytes none = { NULL, 0 };

	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++) {
		struct pd_composed_feature *f = &enc->features[id];
		const struct pd_bytes bytes = pd_buf_bytes(&f->bytes);
		const struct pd_value values[] = { PD_NUMBER("feat_id", id),
			PD_BYTES("feature", bytes.data, bytes.size) };

		if (!f->given || !bytes.size || pd_feature_not_in_pipe(id) ||
		    (id == PD_FEATURE_COMPRESSED && enc->options.compress))
			continue;
		f->left_out = !pd_feature_fits_record(id, bytes.size);
		if (!f->left_out && write_record(enc, PD_RECORD_HEADER_FEATURE, values, 2, none, e))
			return -1;
	}
	if (tracing->given) {
		const size_t padded = (tracing->bytes.size + 7) & ~(size_t)7;
		const struct pd_value values[] = { PD_NUMBER("data_size", padded) };

		if (write_record(enc, PD_RECORD_HEADER_TRACING_DATA, values, 1,
				 pd_buf_bytes(&tracing->bytes), e))
			return -1;
		if (pd_out_append(&enc->out, (const uint8_t[8]){ 0 }, padded - tracing->bytes.size))
			return pd_encode_io(e, enc->out.failed);
	}
	if (enc->features[PD_FEATURE_BUILD_ID].given)
		return write_build_ids(enc, pd_buf_bytes(&enc->features[PD_FEATURE_BUILD_ID].bytes),
				       e);
	return 0;
}

int pd_encode_begin_pipe(struct pd_encoder *enc, struct pd_encode_error *e)
{
	struct pd_buf header = { .budget = &enc->budget };
	int err = pd_compose_pipe_header(&enc->session, &header) ? 12 : 0;

	/* keep a stated header size that is not a pipe's: it was damaged */
	if (!err && enc->stated.given && enc->stated.mode == PD_MODE_PIPE && !enc->converts &&
	    enc->stated.header_size != PD_FILE_HEADER_SIZE)
		pd_store(header.data + 8, enc->stated.header_size, 8, enc->session.swap);
	if (!err)
		pd_encode_magic(enc, &header);
	if (!err)
		err = pd_out_append(&enc->out, header.data, header.size);
	pd_buf_free(&header);
	if (err)
		return pd_encode_io(e, err);
	if (enc->stated.mode == PD_MODE_PIPE)
		return 0;
	for (size_t i = 0; i < enc->session.nr_attrs; i++)
		if (write_attr(enc, enc->session.attrs[i], e))
			return -1;
	return write_features(enc, e);
}
