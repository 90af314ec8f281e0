/* fuzz_encode.c - any text as JSON for the encoder: it is refused with a reason, or gives a file
 * that can be read. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how how = { PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_HEX,
					     FUZZ_JSON };
	/* the others: as the JSON states */
	static const enum pd_encoder_mode modes[5] = { PD_ENCODER_PIPE, PD_ENCODER_FILE };
	const struct pd_encoder_options o = {
		.size = sizeof(o),
		.memory_limit = FUZZ_MEMORY,
		.byte_order = size % 3 ? PD_ENCODER_STATED_ORDER : PD_ENCODER_BIG,
		.mode = modes[size % 5],
		.compress = size % 7 ? 0 : 1,
	};
	struct fuzz_bytes out = { NULL, 0, 0 };
	struct fuzz_decoded decoded;

	if (fuzz_encode((struct pd_bytes){ data, size }, &o, &out) && out.size < 1 << 20) {
		fuzz_decode((struct pd_bytes){ out.data, out.size }, &how, &decoded);
		fuzz_free(&decoded.json);
	}
	fuzz_free(&out);
	return 0;
}
