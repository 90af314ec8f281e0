/* event_symbol.c - events that the kernel's ABI numbers: hardware, software and cache events. */
#include <stdio.h>
#include <string.h>

#include "event/event_kinds.h"

#define HW(id, ...) { __VA_ARGS__, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id }
#define SW(n, ...) { __VA_ARGS__, .type = PERF_TYPE_SOFTWARE, .config = n }

static const struct event_symbol symbols[] = {
	HW(CPU_CYCLES, "cycles", "cpu-cycles"), HW(INSTRUCTIONS, "instructions"),
	HW(CACHE_REFERENCES, "cache-references"), HW(CACHE_MISSES, "cache-misses"),
	HW(BRANCH_INSTRUCTIONS, "branches", "branch-instructions"),
	HW(BRANCH_MISSES, "branch-misses"), HW(BUS_CYCLES, "bus-cycles"),
	HW(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend"),
	HW(STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend"),
	HW(REF_CPU_CYCLES, "ref-cycles"),
	SW(0, "cpu-clock", .what = "ns of CPU time, by the CPU's clock"),
	SW(1, "task-clock", .what = "ns of CPU time, by the task's clock"),
	SW(2, "page-faults", "faults"), SW(3, "context-switches", "cs"),
	SW(4, "cpu-migrations", "migrations"), SW(5, "minor-faults"), SW(6, "major-faults"),
	SW(7, "alignment-faults"), SW(8, "emulation-faults"),
	SW(9, "dummy", .what = "counts nothing; for side-band records"),
	SW(10, "bpf-output", .what = "output of BPF programs"), SW(11, "cgroup-switches"),
};

/* The words of cache events' names, by number; the longest word that matches counts. */
static const char *const caches[][5] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" }, { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" }, { "dTLB", "d-tlb", "Data-TLB" }, { "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "bpu", "btb", "bpc" }, { "node" },
};
/* The operations of each cache: read, write, prefetch. */
static const char *const operations_of[] = { "rwp", "rp", "rwp", "rwp", "r", "r", "rwp" };
static const char *const operations[][5] = {
	{ "load", "loads", "read" }, { "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const char *const results[][5] = {
	{ "refs", "Reference", "ops", "access" }, { "misses", "miss" },
};

/* Moves *text past the longest word of the rows that it begins with. The word must end at the end
 * or before a '-'. Returns the word's row, or -1. */
static int skip_longest_word(const char **text, const char *const (*rows)[5], int n)
{
	size_t best = 0;
	int found = -1;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < 5 && rows[i][j]; j++) {
			size_t size = strlen(rows[i][j]);

			if (size <= best || strncmp(*text, rows[i][j], size) != 0 ||
			    ((*text)[size] && (*text)[size] != '-'))
				continue;
			best = size;
			found = i;
		}
	}
	*text += best;
	return found;
}

/* Parses "CACHE", "CACHE-WORD" or "CACHE-WORD-WORD". The first of two words of one kind counts. */
static bool cache_event(const char *name, uint64_t *config)
{
	int cache = skip_longest_word(&name, caches, 7), operation = -1, result = -1;

	for (int words = 0; cache >= 0 && *name == '-' && words < 2; words++) {
		const char *word = ++name;
		int found = skip_longest_word(&name, operations, 3);

		if (found >= 0 && operation < 0)
			operation = found;
		if (found < 0)
			found = skip_longest_word(&name, results, 2);
		else
			continue;
		if (found < 0 || name == word)
			return false;
		if (result < 0)
			result = found;
	}
	if (cache < 0 || *name ||
	    (operation > 0 && !strchr(operations_of[cache], "rwp"[operation])))
		return false;
	*config = (uint64_t)cache | (uint64_t)(operation < 0 ? 0 : operation) << 8 |
		  (uint64_t)(result < 0 ? 0 : result) << 16;
	return true;
}

const struct event_symbol *event_symbols(size_t *n)
{
	*n = sizeof(symbols) / sizeof(symbols[0]);
	return symbols;
}

bool event_cache_name(size_t i, char *name, size_t size)
{
	static const char *const words[] = {
		"loads", "load-misses", "stores", "store-misses", "prefetches", "prefetch-misses",
	};
	const size_t n = sizeof(words) / sizeof(words[0]);

	if (i >= n * sizeof(caches) / sizeof(caches[0]))
		return false;
	snprintf(name, size, "%s-%s", caches[i / n][0], words[i % n]);
	return true;
}

bool event_symbol(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const struct event_symbol *s = &symbols[i];

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
