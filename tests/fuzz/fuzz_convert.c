/* fuzz_convert.c - an intact recording stays intact where it becomes a file, a pipe, or compressed,
 * unless the encoder says that something was left out.
 */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how how = { PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_FULL,
					     FUZZ_JSON };
	static const enum pd_encoder_mode modes[] = { PD_ENCODER_FILE, PD_ENCODER_PIPE,
						      PD_ENCODER_SAME_MODE };
	const struct pd_encoder_options o = {
		.size = sizeof(o),
		.memory_limit = FUZZ_MEMORY,
		.mode = modes[size % 3],
		.compress = size % 5 ? 0 : 1,
	};
	struct fuzz_bytes converted = { NULL, 0, 0 };
	struct fuzz_decoded first, again;

	fuzz_decode((struct pd_bytes){ data, size }, &how, &first);
	/* a file without records looks like that of a recorder that was killed */
	if (first.opened && !first.errors && first.records > first.headers &&
	    first.json.size < FUZZ_OUTPUT_MAX / 4 &&
	    fuzz_encode((struct pd_bytes){ first.json.data, first.json.size }, &o, &converted) ==
		    FUZZ_COMPLETE) {
		fuzz_decode((struct pd_bytes){ converted.data, converted.size }, &how, &again);
		FUZZ_ASSERT(again.opened && !again.errors,
			    "an intact recording is damaged when it is converted");
		fuzz_free(&again.json);
	}
	fuzz_free(&converted);
	fuzz_free(&first.json);
	return 0;
}
