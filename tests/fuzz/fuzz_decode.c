/* fuzz_decode.c - any bytes as a perf.data file: every output is strict JSON, within the limits of
 * memory and size. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how hows[] = {
		{ PD_AS_WRITTEN, PD_JSON_DOCUMENT, PD_BLOBS_FULL, FUZZ_JSON },
		{ PD_BY_TIME, PD_JSON_LINES, PD_BLOBS_HEX, FUZZ_JSON },
		{ PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_OMIT, FUZZ_JSON },
		{ PD_BY_TIME, PD_JSON_DOCUMENT, PD_BLOBS_HEX, FUZZ_STATS },
		{ PD_BY_TIME, PD_JSON_DOCUMENT, PD_BLOBS_OMIT, FUZZ_JSON, .resolves = true },
	};
	const struct pd_bytes in = { data, size };
	struct fuzz_decoded first, other;

	fuzz_decode(in, &hows[0], &first);
	fuzz_decode(in, &hows[1 + size % 4], &other);
	FUZZ_ASSERT(first.opened == other.opened, "opens one way and not the other");
	fuzz_free(&first.json);
	fuzz_free(&other.json);
	return 0;
}
