/* fuzz_demangle.c - names: bounded and terminated, whatever the size of the buffer. */
#include <string.h>

#include "harness.h"
#include "pd/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char large[PS_NAME_MAX], small[64];
	const struct pd_bytes name = { data, size };
	const uint64_t from = fuzz_cpu_time();
	const size_t n = ps_demangle(name, large, sizeof(large)),
		     less = ps_demangle(name, small, sizeof(small));

	FUZZ_ASSERT(n < sizeof(large) && (!n || large[n] == '\0'), "a name without an end");
	FUZZ_ASSERT(less == (n < sizeof(small) ? n : 0), "another answer in a small buffer");
	FUZZ_ASSERT(!less || memcmp(small, large, less + 1) == 0, "another name in a small buffer");
	fuzz_check_time(from, size);
	return 0;
}
