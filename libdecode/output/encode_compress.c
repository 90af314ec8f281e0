/* encode_compress.c - compress records: a stream for each file, and the COMPRESSED feature. */
#include "output/encode.h"

#include <stdlib.h>

#define ZSTD 1

static void sum_sizes(const struct pd_encoder *enc, uint64_t *in, uint64_t *out)
{
	*in = *out = 0;
	for (size_t i = 0; i < enc->nr_compressors; i++) {
		uint64_t taken, made;

		pd_compressor_sizes(enc->compressors[i].compressor, &taken, &made);
		*in += taken;
		*out += made;
	}
}

/* Composes the section, replacing an older one. */
static int compose_compressed_feature(struct pd_encoder *enc, struct pd_encode_error *e)
{
	struct pd_buf *out = &enc->features[PD_FEATURE_COMPRESSED].bytes;
	uint64_t in, made;
	struct pd_pack_error p;

	sum_sizes(enc, &in, &made);
	{
		const struct pd_value fields[] = {
			PD_NUMBER("version", 0),
			PD_NUMBER("type", ZSTD),
			PD_NUMBER("level", enc->options.compress),
			PD_NUMBER("ratio", made ? in / made : 0),
			PD_NUMBER("mmap_len", 2 * PD_COMPRESSED_MOST),
		};
		const struct pd_value feature = PD_OBJECT("COMPRESSED", fields,
							  5),
							  features = PD_OBJECT(NULL, &feature, 1);

		out->size = 0;
		if (pd_compose_feature(&enc->session, &pd_value_values, "COMPRESSED", &features,
				       PD_PREFER_RAW, out, &p))
			return pd_encode_fail(e, p.code, p.path, p.text);
	}
	enc->features[PD_FEATURE_COMPRESSED].given = true;
	return 0;
}

/* In a pipe the feature must precede the first compressed record. */
static int write_compressed_feature(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_compose_record r = { .type = PD_RECORD_HEADER_FEATURE, .size = PD_SIZE_OPEN,
		.cut = PD_SIZE_OPEN };
	const struct pd_buf *section = &enc->features[PD_FEATURE_COMPRESSED].bytes;
	struct pd_buf bytes = { .budget = &enc->budget };
	struct pd_pack_error p;
	int err = compose_compressed_feature(enc, e);

	if (!err) {
		const struct pd_value fields[] = { PD_NUMBER("feat_id", PD_FEATURE_COMPRESSED),
						   PD_BYTES("feature", section->data,
							    section->size) };
		const struct pd_value object = PD_OBJECT(NULL, fields, 2);

		err = pd_compose_record(&enc->session, &pd_value_values, &r, &object, &bytes, &p) ?
			pd_encode_fail(e, p.code, p.path, p.text) :
			pd_out_append(&enc->out, bytes.data, bytes.size) ?
				pd_encode_io(e, enc->out.failed) : 0;
	}
	pd_buf_free(&bytes);
	return err;
}

static struct pd_compressor *get_compressor(struct pd_encoder *enc, struct pd_out *out)
{
	struct pd_encode_compressor *grown;

	for (size_t i = 0; i < enc->nr_compressors; i++)
		if (enc->compressors[i].out == out)
			return enc->compressors[i].compressor;
	grown = realloc(enc->compressors, (enc->nr_compressors + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	enc->compressors = grown;
	grown += enc->nr_compressors;
	*grown = (struct pd_encode_compressor){
		out, pd_compressor_new(enc->options.compress, PD_AS_COMPRESSED, enc->session.swap)
	};
	if (grown->compressor)
		enc->nr_compressors++;
	return grown->compressor;
}

int pd_encode_compress(struct pd_encoder *enc, struct pd_bytes record, struct pd_out *out,
		       struct pd_encode_error *e)
{
	const bool first = !enc->nr_compressors;
	struct pd_compressor *p = get_compressor(enc, out);
	int err;

	if (!p)
		return pd_encode_fail(e, PD_E_ARGUMENT, "",
				      "out of memory, or the compression level is not 1 to 22");
	if (first && enc->mode == PD_MODE_PIPE && write_compressed_feature(enc, e))
		return -1;
	err = pd_compressor_write(p, record, out);
	return err ? pd_encode_io(e, err) : 0;
}

int pd_encode_compress_flush(struct pd_encoder *enc, struct pd_out *out, struct pd_encode_error *e)
{
	for (size_t i = 0; i < enc->nr_compressors; i++)
		if (!out || enc->compressors[i].out == out) {
			int err = pd_compressor_flush(enc->compressors[i].compressor,
						      enc->compressors[i].out);

			if (err)
				return pd_encode_io(e, err);
		}
	return 0;
}

/* The feature exists if and only if something is compressed. */
int pd_encode_compress_finish(struct pd_encoder *enc, struct pd_encode_error *e)
{
	if (enc->nr_compressors)
		return compose_compressed_feature(enc, e);
	if (enc->uncompressed)
		enc->features[PD_FEATURE_COMPRESSED].given = false;
	return 0;
}

void pd_encode_compress_free(struct pd_encoder *enc)
{
	for (size_t i = 0; i < enc->nr_compressors; i++)
		pd_compressor_free(enc->compressors[i].compressor);
	free(enc->compressors);
}
