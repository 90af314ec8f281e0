/* encoder.c - the public functions of an encoder: their errors are those of the library. */
#include "base/argument.h"
#include "output/encode.h"

/* Returns `failed`, and what the encoder has to say about it in *e. */
static int report_failure(const struct pd_encoder *enc, int failed, struct pd_error *e)
{
	const struct pd_encode_error *wrong = &enc->wrong;

	if (failed && e)
		*e = (struct pd_error){ .code = wrong->code,
					.severity = PD_FATAL,
					.have = wrong->have,
					.field = wrong->path[0] ? wrong->path : NULL,
					.text = wrong->text[0] ? wrong->text : NULL };
	return failed;
}

int pd_encoder_file(struct pd_encoder *enc, pd_node file, struct pd_error *e)
{
	if (!enc || !file)
		return pd_refuse(e, "no encoder or no value");
	return report_failure(enc, pd_encode_file(enc, file, &enc->wrong), e);
}

int pd_encoder_attr(struct pd_encoder *enc, pd_node attr, struct pd_error *e)
{
	if (!enc || !attr)
		return pd_refuse(e, "no encoder or no value");
	return report_failure(enc, pd_encode_attr(enc, attr, &enc->wrong), e);
}

int pd_encoder_features(struct pd_encoder *enc, pd_node features, struct pd_error *e)
{
	if (!enc || !features)
		return pd_refuse(e, "no encoder or no value");
	return report_failure(enc, pd_encode_features(enc, features, &enc->wrong), e);
}

int pd_encoder_record(struct pd_encoder *enc, pd_node record, struct pd_error *e)
{
	if (!enc || !record)
		return pd_refuse(e, "no encoder or no value");
	return report_failure(enc, pd_encode_record(enc, record, &enc->wrong), e);
}

int pd_encoder_finish(struct pd_encoder *enc, struct pd_error *e)
{
	if (!enc)
		return pd_refuse(e, "no encoder");
	return report_failure(enc, pd_encode_finish(enc, &enc->wrong), e);
}
