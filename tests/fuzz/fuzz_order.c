/* fuzz_order.c - an intact file can be turned to either byte order, and from then on turning it
 * there and back is exact, unless the encoder says that something was left out.
 */
#include <string.h>

#include "harness.h"

enum { TURNS = 4 };

/* False: not opened, not intact, refused, or not all of it. */
static bool turn(struct pd_bytes in, enum pd_encoder_order order, struct fuzz_bytes *out)
{
	static const struct fuzz_how how = { PD_AS_WRITTEN, PD_JSON_LINES, PD_BLOBS_FULL,
					     FUZZ_JSON };
	const struct pd_encoder_options o = { .size = sizeof(o),
					      .memory_limit = FUZZ_MEMORY,
					      .byte_order = order };
	struct fuzz_decoded decoded;
	bool good;

	fuzz_decode(in, &how, &decoded);
	good = decoded.opened && !decoded.errors && decoded.json.size < FUZZ_OUTPUT_MAX / 4 &&
	       fuzz_encode((struct pd_bytes){ decoded.json.data, decoded.json.size }, &o, out) ==
		       FUZZ_COMPLETE;
	fuzz_free(&decoded.json);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes turned[TURNS] = { { NULL, 0, 0 } };
	struct pd_bytes in = { data, size };
	size_t n = 0;

	while (n < TURNS && turn(in, n % 2 ? PD_ENCODER_BIG : PD_ENCODER_LITTLE, &turned[n])) {
		in = (struct pd_bytes){ turned[n].data, turned[n].size };
		n++;
	}
	if (n == TURNS)
		FUZZ_ASSERT(turned[1].size == turned[3].size &&
				    memcmp(turned[1].data, turned[3].data, turned[1].size) == 0,
			    "turned there and back it is another file");
	for (size_t i = 0; i < TURNS; i++)
		fuzz_free(&turned[i]);
	return 0;
}
