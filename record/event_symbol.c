/* event_symbol.c - events that the kernel itself has numbers for. */
#include <string.h>

#include "event_kinds.h"

struct symbol {
	const char *name, *alias;
	uint32_t type, config;
};

#define HW(id, ...) { __VA_ARGS__, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id }
#define SW(n, ...) { __VA_ARGS__, .type = PERF_TYPE_SOFTWARE, .config = n }

static const struct symbol symbols[] = {
	HW(CPU_CYCLES, "cycles", "cpu-cycles"), HW(INSTRUCTIONS, "instructions"),
	HW(CACHE_REFERENCES, "cache-references"), HW(CACHE_MISSES, "cache-misses"),
	HW(BRANCH_INSTRUCTIONS, "branches", "branch-instructions"),
	HW(BRANCH_MISSES, "branch-misses"), HW(BUS_CYCLES, "bus-cycles"),
	HW(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend"),
	HW(STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend"),
	HW(REF_CPU_CYCLES, "ref-cycles"),
	SW(0, "cpu-clock"), SW(1, "task-clock"), SW(2, "page-faults", "faults"),
	SW(3, "context-switches", "cs"), SW(4, "cpu-migrations", "migrations"),
	SW(5, "minor-faults"), SW(6, "major-faults"), SW(7, "alignment-faults"),
	SW(8, "emulation-faults"), SW(9, "dummy"), SW(10, "bpf-output"), SW(11, "cgroup-switches"),
};

/* The parts of a cache event's name, by number; the longest that fits counts. */
static const char *const caches[][5] = {
	{ "L1-dcache", "L1-d", "L1d", "L1-data" }, { "L1-icache", "L1-i", "L1i", "L1-instruction" },
	{ "LLC", "L2" }, { "dTLB", "d-tlb", "Data-TLB" }, { "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "bpu", "btb", "bpc" }, { "node" },
};
static const char *const operations[][5] = {
	{ "load", "loads", "read" }, { "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const char *const results[][5] = {
	{ "refs", "Reference", "ops", "access" }, { "misses", "miss" },
};

/* Moves *text over the longest word of the rows that ends there or before a '-'; its row, or -1. */
static int take(const char **text, const char *const (*rows)[5], int n)
{
	size_t best = 0;
	int found = -1;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < 5 && rows[i][j]; j++) {
			size_t size = strlen(rows[i][j]);

			if (size <= best || strncasecmp(*text, rows[i][j], size) != 0 ||
			    ((*text)[size] && (*text)[size] != '-'))
				continue;
			best = size;
			found = i;
		}
	}
	*text += best;
	if (found >= 0 && **text == '-')
		++*text;
	return found;
}

static bool cache_event(const char *name, uint64_t *config)
{
	int cache = take(&name, caches, 7);
	int operation = -1, result = -1;

	if (cache < 0)
		return false;
	while (*name) {
		int found = operation < 0 ? take(&name, operations, 3) : -1;

		if (found >= 0) {
			operation = found;
			continue;
		}
		found = result < 0 ? take(&name, results, 2) : -1;
		if (found < 0)
			return false;
		result = found;
	}
	if (operation < 0 && result < 0)
		return false;
	*config = (uint64_t)cache | (uint64_t)(operation < 0 ? 0 : operation) << 8 |
		  (uint64_t)(result < 0 ? 0 : result) << 16;
	return true;
}

bool event_symbol(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const struct symbol *s = &symbols[i];

		if (strcmp(s->name, name) != 0 && (!s->alias || strcmp(s->alias, name) != 0))
			continue;
		*type = s->type;
		*config = s->config;
		return true;
	}
	if (!cache_event(name, config))
		return false;
	*type = PERF_TYPE_HW_CACHE;
	return true;
}
