/* fuzz_roundtrip.c - a file that is intact comes back from its JSON, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how how = { PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_FULL,
					     FUZZ_JSON };
	const struct pd_encoder_options o = { .size = sizeof(o), .memory_limit = FUZZ_MEMORY };
	struct fuzz_bytes again = { NULL, 0, 0 };
	struct fuzz_decoded first;
	size_t same = 0;
	bool good;

	if (size > 4 && data[0] != 'P' && data[0] != '2' && data[0] != 'E')
		return 0;	/* packed: the packing does not come back */
	fuzz_decode((struct pd_bytes){ data, size }, &how, &first);
	if (first.opened && first.json.size < FUZZ_OUTPUT_MAX) {
		good = fuzz_encode((struct pd_bytes){ first.json.data, first.json.size }, &o,
				   &again);
		FUZZ_ASSERT(good || first.errors, "refuses what was decoded without an error");
		while (good && same < size && same < again.size && again.data[same] == data[same])
			same++;
		FUZZ_ASSERT(first.errors || (again.size == size && same == size),
			    "comes back different from byte %zu on: %zu bytes of %zu", same,
			    again.size, size);
	}
	fuzz_free(&first.json);
	fuzz_free(&again);
	return 0;
}
