/* fuzz_feature.c - any bytes as a feature section. The first says which, the second the byte
 * order. */
#include <string.h>

#include "harness.h"

static void put64(uint8_t *p, uint64_t v, bool big)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * (big ? 7 - i : i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_how how = { PD_AS_WRITTEN, PD_JSON_DOCUMENT, PD_BLOBS_HEX,
					     FUZZ_JSON };
	const uint8_t feature = size > 2 ? data[0] : 3;
	const bool big = size > 2 && data[1] & 1;
	uint8_t head[104 + 144 + 16] = { 0 };
	struct fuzz_bytes file = { NULL, 0, 0 };
	struct fuzz_decoded decoded;

	if (size < 3)
		return 0;
	data += 2;
	size -= 2;
	memcpy(head, big ? "2ELIFREP" : "PERFILE2", 8);
	put64(head + 8, 104, big);
	put64(head + 16, 144, big);	/* one attribute of 128 bytes, without ids */
	put64(head + 24, 104, big);
	put64(head + 32, 144, big);
	put64(head + 40, 248, big);	/* no records */
	put64(head + 72 + feature / 64 * 8, 1ull << feature % 64, big);
	head[104 + (big ? 7 : 4)] = 128;
	put64(head + 248, 264, big);
	put64(head + 256, size, big);
	fuzz_append(&file, head, sizeof(head));
	fuzz_append(&file, data, size);
	fuzz_decode((struct pd_bytes){ file.data, file.size }, &how, &decoded);
	FUZZ_ASSERT(decoded.opened, "the file around it is good");
	fuzz_free(&decoded.json);
	fuzz_free(&file);
	return 0;
}
