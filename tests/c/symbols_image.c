/* symbols_image.c - shows what libpdsymbols reads from an ELF file:
 *
 *   symbols_image list FILE [DEBUG]                   each symbol: start, end, source, name
 *   symbols_image find FILE [ADDRESS...]              the symbol at each address
 *   symbols_image address FILE ADDR PGOFF X OFFSET    virtual address of an offset in a mapping
 *   symbols_image info FILE                           build id, debug link and its checksum
 *   symbols_image demangle                            names, one a line
 *   symbols_image demangle-time                       ns of CPU time and bytes of each line's
 *   symbols_image time FILE N                         ns of reading, and of one of N searches
 *
 * "limit=BYTES" as the first argument sets the memory limit.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "image/binary.h"
#include "pd/symbols.h"

static const char *const sources[] = {
	[PS_FROM_SYMTAB] = "SYMTAB", [PS_FROM_DYNSYM] = "DYNSYM", [PS_FROM_MINIDEBUG] = "MINIDEBUG",
	[PS_FROM_GO] = "GO", [PS_FROM_PLT] = "PLT", [PS_FROM_FDE] = "FDE",
};

static int fail(const char *what, int status)
{
	printf("%s: %d\n", what, status);
	return 1;
}

static void print_symbol(const struct ps_symbol *s)
{
	printf("%" PRIx64 " %" PRIx64 " %s %.*s\n", s->start, s->end, sources[s->source],
	       (int)s->name_size, s->name_size ? s->name : "");
}

static void find(const struct ps_binary *b, int n, char **addresses)
{
	struct ps_symbol s;

	for (int i = 0; i < n; i++) {
		if (ps_symtab_find(&b->symbols, strtoull(addresses[i], NULL, 16), &s))
			print_symbol(&s);
		else
			puts("-");
	}
}

static void info(const struct ps_binary *b)
{
	const char *name;
	uint32_t crc;

	for (size_t i = 0; i < b->image.build_id.size; i++)
		printf("%02x", b->image.build_id.data[i]);
	name = ps_binary_debuglink(b, &crc);
	printf("\n%s %08x\n%08x\n", name ? name : "-", crc, ps_debuglink_crc(b->image.bytes));
}

static void address(const struct ps_binary *b, char **args)
{
	const struct ps_mapping map = { strtoull(args[0], NULL, 16), strtoull(args[1], NULL, 16),
					args[2][0] == 'x' };
	uint64_t out;

	if (ps_elf_address(&b->image, &map, strtoull(args[3], NULL, 16), &out))
		printf("%" PRIx64 "\n", out);
	else
		puts("-");
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void measure(const struct ps_binary *b, uint64_t took, uint64_t n)
{
	const uint64_t from = ps_symtab_at(&b->symbols, 0).start,
		       span = ps_symtab_at(&b->symbols, b->symbols.nr - 1).end - from;
	uint64_t x = 1, begin = now(), found = 0;
	struct ps_symbol s;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		found += ps_symtab_find(&b->symbols, from + (x >> 20) % span, &s);
	}
	printf("%zu symbols read in %" PRIu64 " us; %" PRIu64 " ns a search, %" PRIu64
	       " %% found\n",
	       b->symbols.nr, took / 1000, (now() - begin) / n, found * 100 / n);
}

static int demangle(void)
{
	static char line[1 << 17], out[PS_NAME_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		const size_t n = strcspn(line, "\n");
		const size_t made =
			ps_demangle((struct pd_bytes){ (uint8_t *)line, n }, out, sizeof(out));

		printf("%.*s\n", (int)(made ? made : n), made ? out : line);
	}
	return 0;
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The shortest of some times: others are of a machine that does other work. */
static int demangle_time(void)
{
	static char line[1 << 17], out[2 * PS_NAME_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		const size_t n = strcspn(line, "\n");
		uint64_t least = UINT64_MAX;
		size_t made = 0;

		for (int i = 0; i < 10; i++) {
			const uint64_t begin = cpu_time();
			uint64_t took;

			made = ps_demangle((struct pd_bytes){ (uint8_t *)line, n }, out,
					   sizeof(out));
			took = cpu_time() - begin;
			least = took < least ? took : least;
		}
		printf("%" PRIu64 " %zu\n", least, made);
	}
	return 0;
}

static int show(int argc, char **argv, struct pd_budget *budget)
{
	const char *what = argv[1];
	const int fd = open(argv[2], O_RDONLY);
	struct ps_binary b;
	uint64_t begin = now();
	int status = ps_binary_open_fd(&b, fd, budget);

	close(fd);
	if (status != PS_OK)
		return fail("open", status);
	if (!strcmp(what, "list") && argc > 3) {
		const int debug = open(argv[3], O_RDONLY);

		status = ps_binary_add_debug_fd(&b, debug);
		close(debug);
		if (status != PS_OK)
			return fail("debug", status);
	}
	status = ps_binary_read_symbols(&b);
	if (status != PS_OK)
		fail("symbols", status);
	else if (!strcmp(what, "list"))
		for (size_t i = 0; i < b.symbols.nr; i++) {
			const struct ps_symbol s = ps_symtab_at(&b.symbols, i);

			print_symbol(&s);
		}
	else if (!strcmp(what, "find"))
		find(&b, argc - 3, argv + 3);
	else if (!strcmp(what, "info"))
		info(&b);
	else if (!strcmp(what, "time"))
		measure(&b, now() - begin, strtoull(argv[3], NULL, 10));
	else
		address(&b, argv + 3);
	ps_binary_close(&b);
	return status != PS_OK;
}

int main(int argc, char **argv)
{
	struct pd_budget budget = { .limit = 1u << 30 };
	int status;

	if (argc > 1 && !strncmp(argv[1], "limit=", 6)) {
		budget.limit = strtoull(argv[1] + 6, NULL, 10);
		argc--;
		argv++;
	}
	if (argc == 2 && !strcmp(argv[1], "demangle"))
		return demangle();
	if (argc == 2 && !strcmp(argv[1], "demangle-time"))
		return demangle_time();
	status = argc > 2 ? show(argc, argv, &budget) : 1;
	if (budget.used)
		printf("%" PRIu64 " bytes are still charged\n", budget.used);
	return status || budget.used;
}
