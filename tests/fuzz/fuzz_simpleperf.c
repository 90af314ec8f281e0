/* fuzz_simpleperf.c - a section of feature SIMPLEPERF_FILE or, where the first byte is odd,
 * SIMPLEPERF_FILE2: within the budget, and each symbol is found where it begins. */
#include "bundle/simpleperf.h"
#include "harness.h"

static void check_symbol(const struct ps_simpleperf_file *f, size_t i)
{
	const struct ps_symbol symbol = ps_symtab_at(&f->symbols, i);
	struct ps_symbol found;

	FUZZ_ASSERT(symbol.name_size && symbol.end > symbol.start, "a symbol without name or size");
	FUZZ_ASSERT(ps_symtab_find(&f->symbols, symbol.start, &found) &&
		    found.start == symbol.start, "a symbol that is not found");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const enum ps_simpleperf_form form = size && data[0] % 2 ? PS_SIMPLEPERF_PROTOBUF :
								   PS_SIMPLEPERF_PLAIN;
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct pd_arena arena = { .budget = &budget };
	struct ps_simpleperf_file *files;
	size_t n;

	files = ps_simpleperf_read((struct pd_bytes){ data + !!size, size - !!size }, form, &arena,
				   &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < files[i].symbols.nr && k < 64; k++)
			check_symbol(&files[i], k);
	ps_simpleperf_free(files, n);
	pd_arena_free(&arena);
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
