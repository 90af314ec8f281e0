/* symbols_stack.c - unwinds stacks that are described on standard input, a line each:
 *
 *   image PATH START END PGOFF                    maps a file, as perf would see it
 *   options BITS FRAMES                           a new unwinder
 *   stack MACHINE ABI MASK SIZE HIGHEST R,R,... BYTES      all numbers in hex; "-": no registers,
 *                                                          no bytes
 *   precise MACHINE ...                           the same, of a precise sample
 *   leaf MACHINE ABI MASK PC R,R,...              asks for the caller that is still in its register
 *
 * and prints for each stack its end and the frames: address and flags as symbols_unwind.c does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "images.h"

#define LINE (1 << 20)

struct mapping {
	char path[512];
	uint64_t end;
	struct ps_mapping map;
};

struct run {
	struct images images;
	struct ps_unwinder *unwinder;
	struct mapping maps[64];
	unsigned int nr_maps;
};

static void locate(void *ctx, uint64_t address, struct ps_place *out)
{
	struct run *run = ctx;

	for (unsigned int i = 0; i < run->nr_maps; i++) {
		const struct mapping *m = &run->maps[i];

		if (address >= m->map.addr && address < m->end)
			place_in(&run->images, i, m->path, &m->map, m->end, address, out);
	}
}

static uint64_t take_hex(void)
{
	const char *word = strtok(NULL, " \n");

	return word ? strtoull(word, NULL, 16) : 0;
}

static size_t take_registers(uint64_t *out)
{
	char *word = strtok(NULL, " \n");
	size_t n = 0;

	while (word && *word != '-' && n < 64) {
		out[n++] = strtoull(word, &word, 16);
		if (*word++ != ',')
			break;
	}
	return n;
}

/* Exact in size, so that a read beyond is seen. */
static struct pd_bytes take_bytes(void)
{
	const char *word = strtok(NULL, " \n");
	const size_t n = word && *word != '-' ? strlen(word) / 2 : 0;
	uint8_t *bytes = malloc(n + !n);

	for (size_t i = 0; i < n; i++)
		sscanf(word + 2 * i, "%2hhx", &bytes[i]);
	return (struct pd_bytes){ bytes, n };
}

static void add_image(struct run *run)
{
	struct mapping *m = &run->maps[run->nr_maps++];

	snprintf(m->path, sizeof(m->path), "%s", strtok(NULL, " \n"));
	m->map.addr = take_hex();
	m->end = take_hex();
	m->map.pgoff = take_hex();
	m->map.executable = true;
}

static void new_unwinder(struct run *run)
{
	const unsigned int bits = (unsigned int)take_hex();

	ps_unwinder_free(run->unwinder);
	run->unwinder = ps_unwinder_new(&(struct ps_unwinder_options){
		.budget = &run->images.budget, .cache_bits = bits, .max_frames = take_hex() });
}

static struct ps_copied_stack take_head(struct run *run)
{
	struct ps_copied_stack in = { .generation = 1 + run->nr_maps,
				      .locate = locate,
				      .ctx = run };
	const uint16_t machine = (uint16_t)take_hex();

	in.arch = ps_arch_find(machine, take_hex());
	in.mask = take_hex();
	return in;
}

static void unwind(struct run *run, const char *what)
{
	struct ps_copied_stack in = take_head(run);
	uint64_t registers[64];
	struct ps_chain chain;

	in.size = take_hex();
	in.highest = take_hex();
	in.registers = registers;
	in.nr_registers = take_registers(registers);
	in.bytes = take_bytes();
	in.precise = strcmp(what, "precise") == 0;
	ps_unwind(run->unwinder, &in, &chain);
	printf("%s", chain.end == PS_END_NONE ? "-" : ps_end_name(chain.end));
	for (size_t i = 0; i < chain.nr_frames; i++)
		printf(" %" PRIx64 "%s%s%s", chain.frames[i].addr,
		       chain.frames[i].flags & PS_CHAIN_RETURN ? "r" : "x",
		       chain.frames[i].flags & PS_CHAIN_SIGNAL ? "s" : "",
		       chain.frames[i].flags & PS_CHAIN_GUESSED ? "g" : "");
	putchar('\n');
	free((void *)in.bytes.data);
}

static void ask_leaf(struct run *run)
{
	struct ps_copied_stack in = take_head(run);
	const uint64_t pc = take_hex();
	uint64_t registers[64], caller;

	in.registers = registers;
	in.nr_registers = take_registers(registers);
	if (ps_unwind_leaf(run->unwinder, &in, pc, &caller))
		printf("%" PRIx64 "\n", caller);
	else
		puts("-");
}

int main(void)
{
	static struct run run;
	char *line = malloc(LINE);

	run.images.budget.limit = 1ull << 30;
	run.unwinder =
		ps_unwinder_new(&(struct ps_unwinder_options){ .budget = &run.images.budget });
	while (line && fgets(line, LINE, stdin)) {
		const char *what = strtok(line, " \n");

		if (!what)
			continue;
		if (strcmp(what, "image") == 0)
			add_image(&run);
		else if (strcmp(what, "options") == 0)
			new_unwinder(&run);
		else if (strcmp(what, "leaf"))
			unwind(&run, what);
		else
			ask_leaf(&run);
	}
	ps_unwinder_free(run.unwinder);
	close_images(&run.images);
	if (run.images.budget.used)
		printf("%" PRIu64 " bytes are still charged\n", run.images.budget.used);
	free(line);
	return 0;
}
