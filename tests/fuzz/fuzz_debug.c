/* fuzz_debug.c - debug information of an ELF file: bounded, and the same answer from two readings.
 *
 * The input is an ELF file; or 4 bytes, the size of an ELF file whose units are split, that file,
 * and the .dwo or .dwp with the rest of its units.
 */
#include <stdlib.h>
#include <string.h>

#include "debug/index.h"
#include "harness.h"

#define FRAMES 8
#define ADDRESSES 64

struct files {
	struct pd_bytes program, split;
};

struct reading {
	struct pd_budget budget;
	struct ps_elf file;
	struct ps_debug debug;
	struct pd_bytes split;
	uint8_t *copy;		/* of the program, which relocations write to */
	bool has_file, has_debug;
};

static struct files divide(struct pd_bytes in)
{
	uint32_t size;

	if (in.size < sizeof(size) || memcmp(in.data, ELFMAG, SELFMAG) == 0)
		return (struct files){ .program = in };
	memcpy(&size, in.data, sizeof(size));
	in = (struct pd_bytes){ in.data + sizeof(size), in.size - sizeof(size) };
	if (size > in.size)
		size = (uint32_t)in.size;
	return (struct files){ { in.data, size }, { in.data + size, in.size - size } };
}

static bool find_split(void *ctx, const struct ps_skeleton *k, struct ps_split *out)
{
	struct reading *r = ctx;
	struct ps_elf file;
	bool is_found;

	if (ps_elf_open_bytes(&file, r->split, &r->budget) != PS_OK)
		return false;
	is_found = ps_split_open(out, &file, k, &r->budget) == PS_OK;
	ps_elf_close(&file);
	return is_found;
}

static void open_reading(struct reading *r, const struct files *in)
{
	*r = (struct reading){ .budget.limit = FUZZ_MEMORY, .split = in->split,
			       .copy = malloc(in->program.size + 1) };
	FUZZ_ASSERT(r->copy, "no memory");
	if (in->program.size)
		memcpy(r->copy, in->program.data, in->program.size);
	r->has_file = ps_elf_open_bytes(&r->file, (struct pd_bytes){ r->copy, in->program.size },
					&r->budget) == PS_OK;
	if (r->has_file && r->file.header.e_type == ET_REL)
		r->file.is_writable = true;
	r->has_debug = r->has_file && ps_debug_open(&r->debug, &r->file, NULL, PS_DEBUG_LINES,
						    &r->budget) == PS_OK;
	if (r->has_debug && r->split.size)
		r->debug.finder = (struct ps_split_finder){ find_split, r };
}

static void close_reading(struct reading *r)
{
	if (r->has_debug)
		ps_debug_close(&r->debug);
	if (r->has_file)
		ps_elf_close(&r->file);
	free(r->copy);
	FUZZ_ASSERT(r->budget.used == 0, "%llu bytes stay charged",
		    (unsigned long long)r->budget.used);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void compare(struct reading *a, struct reading *b, uint64_t address)
{
	struct ps_debug_frame x[FRAMES], y[FRAMES];
	const int n = ps_debug_find(&a->debug, address, PS_DEBUG_LINES, x, FRAMES);

	FUZZ_ASSERT(n <= FRAMES &&
			    n == ps_debug_find(&b->debug, address, PS_DEBUG_LINES, y, FRAMES),
		    "another number of functions");
	for (int i = 0; i < n; i++)
		FUZZ_ASSERT(x[i].line == y[i].line && same_text(x[i].name, y[i].name) &&
				    same_text(x[i].file, y[i].file),
			    "another answer");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t from = fuzz_cpu_time();
	const struct files files = divide((struct pd_bytes){ data, size });
	struct reading a, b;

	open_reading(&a, &files);
	open_reading(&b, &files);
	FUZZ_ASSERT(a.has_debug == b.has_debug, "read only once");
	for (size_t i = 0; a.has_debug && i < a.debug.by_address.nr && i < ADDRESSES; i++) {
		compare(&a, &b, a.debug.by_address.points[i].at);
		compare(&a, &b, a.debug.by_address.points[i].at + i * 5);
	}
	close_reading(&b);
	close_reading(&a);
	fuzz_check_time(from, size);
	return 0;
}
