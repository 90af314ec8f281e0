/* fuzz_bpf.c - lines of BPF programs, of any file: within the budget, each is in its function, and
 * its file is a text with an end. */
#include "bpf/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

#define FUNCTIONS 64

static void check_address(const struct ps_bpf *b, const struct ps_bpf_function *f,
			  uint64_t address)
{
	const struct ps_bpf_line *line;
	const char *file = NULL;
	char name[64];

	snprintf(name, sizeof(name), "bpf_prog_%016" PRIx64 "_name", f->tag);
	line = ps_bpf_find(b, f->start, name, address, &file);
	if (!line)
		return;
	FUZZ_ASSERT(address >= f->start && line->address >= f->start && line->address <= address,
		    "a line of another function");
	FUZZ_ASSERT(!file || strlen(file) <= FUZZ_MEMORY, "a text without an end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct pd_arena arena = { .budget = &budget };
	struct ps_bpf b = { .arena = &arena };
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_memory((struct pd_bytes){ data, size },
						    PD_READER_OPTIONS(.memory_limit = FUZZ_MEMORY),
						    &e);

	if (r)
		ps_bpf_read(&b, r);
	for (size_t i = 0; i < b.nr && i < FUNCTIONS; i++) {
		check_address(&b, &b.functions[i], b.functions[i].start);
		check_address(&b, &b.functions[i], b.functions[i].start + b.functions[i].size - 1);
		check_address(&b, &b.functions[i], b.functions[i].start - 1);
	}
	pd_reader_free(r);
	pd_arena_free(&arena);
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
