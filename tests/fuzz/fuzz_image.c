/* fuzz_image.c - symbols of an ELF file: within the budget, every symbol is found at its start, and
 * the same twice. */
#include <string.h>

#include "harness.h"
#include "image/binary.h"

/* Returns the number of symbols and mixes them into *hash. */
static size_t read_file(struct pd_bytes in, uint64_t *hash)
{
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct ps_binary b;
	size_t n = 0;

	*hash = 0;
	if (ps_binary_open_bytes(&b, in, &budget) == PS_OK) {
		if (ps_binary_read_symbols(&b) == PS_OK)
			n = b.symbols.nr;
		for (size_t i = 0; i < n; i++) {
			const struct ps_symbol s = ps_symtab_at(&b.symbols, i);
			struct ps_symbol found;

			FUZZ_ASSERT(s.end > s.start, "an empty symbol");
			FUZZ_ASSERT(ps_symtab_find(&b.symbols, s.start, &found) &&
					    found.start == s.start,
				    "a symbol is not found");
			*hash = (*hash ^ s.start ^ s.end * 3) * 0x9e3779b97f4a7c15ull + s.name_size;
		}
		ps_binary_close(&b);
	}
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t from = fuzz_cpu_time();
	uint64_t first, second;
	const size_t n = read_file((struct pd_bytes){ data, size }, &first);

	FUZZ_ASSERT(read_file((struct pd_bytes){ data, size }, &second) == n && first == second,
		    "another answer");
	fuzz_check_time(from, size);
	return 0;
}
