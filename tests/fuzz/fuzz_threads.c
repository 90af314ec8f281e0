/* fuzz_threads.c - any bytes as a perf.data file: records in runs, and with threads, give the same
 * JSON as one by one. */
#include <string.h>

#include "harness.h"

#define MEMORY (64u << 20)	/* enough for a thread that decompresses */

static void expect_same(const struct fuzz_decoded *a, const struct fuzz_decoded *b,
			unsigned int threads)
{
	FUZZ_ASSERT(a->opened == b->opened, "opens one way and not the other");
	FUZZ_ASSERT(a->errors == b->errors, "%zu errors, %zu with %u threads", a->errors, b->errors,
		    threads);
	FUZZ_ASSERT(a->json.size == b->json.size &&
			    (!a->json.size || !memcmp(a->json.data, b->json.data, a->json.size)),
		    "other JSON with %u threads", threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how hows[] = {
		{ PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_HEX, FUZZ_JSON, .memory = MEMORY },
		{ PD_AS_WRITTEN, PD_JSON_DOCUMENT, PD_BLOBS_OMIT, FUZZ_JSON, .memory = MEMORY },
		{ PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_HEX, FUZZ_STATS, .memory = MEMORY },
		{ PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_HEX, FUZZ_JSON, .memory = MEMORY,
		  .resolves = true },
	};
	const struct pd_bytes in = { data, size };
	struct fuzz_how how = hows[size % 4];
	struct fuzz_decoded first, other;

	fuzz_decode(in, &how, &first);
	for (how.threads = 1; how.threads <= 3; how.threads += 2) {
		fuzz_decode(in, &how, &other);
		expect_same(&first, &other, how.threads);
		fuzz_free(&other.json);
	}
	fuzz_free(&first.json);
	return 0;
}
