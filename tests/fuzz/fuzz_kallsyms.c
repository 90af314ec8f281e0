/* fuzz_kallsyms.c - a text as kallsyms, and as modules: within the budget, and every function is
 * found at its start. */
#include "harness.h"
#include "kernel/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct pd_bytes text = { data, size };
	struct ps_module module;
	struct ps_kallsyms k;
	size_t modules = 0;

	if (ps_kallsyms_read(&k, text, &budget) == PS_OK) {
		for (size_t i = 0; i < k.symbols.nr; i++) {
			const struct ps_symbol s = ps_symtab_at(&k.symbols, i);
			struct ps_symbol found;

			FUZZ_ASSERT(s.end > s.start && s.name_size, "an empty symbol");
			FUZZ_ASSERT(ps_symtab_find(&k.symbols, s.start, &found) &&
					    found.start == s.start,
				    "a symbol is not found");
		}
		ps_kallsyms_free(&k);
	}
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	while (ps_modules_next(&text, &module))
		FUZZ_ASSERT(++modules <= size && module.name_size, "a module from nothing");
	fuzz_check_time(from, size);
	return 0;
}
