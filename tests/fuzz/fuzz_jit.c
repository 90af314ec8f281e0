/* fuzz_jit.c - a perf map or, where the first byte is odd, a jitdump: each address has the range
 * that was added last. */
#include "harness.h"
#include "jit/code.h"

static void check_address(struct ps_jit_code *c, uint64_t address)
{
	struct ps_symbol s = { .start = 0 };
	const enum ps_jit_found found = ps_jit_find(c, address, PS_JIT_ANY_TIME, &s);
	size_t i = c->nr;

	while (i && (address < c->ranges[i - 1].start || address >= c->ranges[i - 1].end))
		i--;
	FUZZ_ASSERT((found != PS_JIT_NOTHING) == (i > 0), "found %d, but there are %zu ranges",
		    found, i);
	FUZZ_ASSERT(found == PS_JIT_NOTHING ||
			    (s.start == c->ranges[i - 1].start && s.name == c->ranges[i - 1].name),
		    "not the last range");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool dump = size && data[0] % 2;
	const struct pd_bytes in = { data + !!size, size - !!size };
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct ps_jit_code c;

	if ((dump ? ps_jit_read_jitdump : ps_jit_read_perf_map)(&c, in, &budget) == PS_OK) {
		for (size_t i = 0; i < c.nr && i < 64; i++) {
			check_address(&c, c.ranges[i].start);
			check_address(&c, c.ranges[i].end);
			check_address(&c, c.ranges[i].start - 1);
		}
		ps_jit_free(&c);
	}
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
