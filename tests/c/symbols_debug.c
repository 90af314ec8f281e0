/* symbols_debug.c - shows functions and lines of addresses, as addr2line -afi does.
 *
 *   symbols_debug [-t] FILE [ALT]     addresses in hex on standard input; -t: only the time
 *
 * Units of split DWARF are in FILE.dwp, or where the compiler wrote their .dwo.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "debug/index.h"
#include "image/binary.h"

#define FRAMES 64

static struct pd_budget budget = { .limit = 4ull << 30 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void show(struct ps_debug *d, uint64_t address)
{
	struct ps_debug_frame f[FRAMES];
	const int n = ps_debug_find(d, address, PS_DEBUG_LINES, f, FRAMES);

	printf("0x%" PRIx64 "\n", address);
	for (int i = 0; i < n; i++)
		printf("%s\n%s:%u\n", f[i].name ? f[i].name : "??", f[i].file ? f[i].file : "??",
		       f[i].line);
	if (n <= 0)
		printf("??\n??:0\n");
}

static void measure(struct ps_debug *d, const uint64_t *addresses, size_t n)
{
	struct ps_debug_frame f[FRAMES];
	uint64_t begin = now(), first, frames = 0;

	for (size_t i = 0; i < n; i++)
		ps_debug_find(d, addresses[i], PS_DEBUG_FUNCTIONS, f, FRAMES);
	printf("%" PRIu64 " us functions, ", (now() - begin) / 1000);
	begin = now();
	for (size_t i = 0; i < n; i++)
		ps_debug_find(d, addresses[i], PS_DEBUG_LINES, f, FRAMES);
	printf("%" PRIu64 " us lines, ", (now() - begin) / 1000);
	first = now();
	for (int turn = 0; turn < 100; turn++)
		for (size_t i = 0; i < n; i++)
			frames +=
				(uint64_t)ps_debug_find(d, addresses[i], PS_DEBUG_LINES, f, FRAMES);
	printf("%" PRIu64 " ns a search, %" PRIu64 " frames, %" PRIu64 " KiB charged\n",
	       (now() - first) / (n * 100), frames / 100, budget.used >> 10);
}

static bool open_split(const char *path, const struct ps_skeleton *k, struct ps_split *out)
{
	const int fd = open(path, O_RDONLY);
	enum ps_status status = PS_NOT_ELF;
	struct ps_elf file;

	if (fd >= 0 && ps_elf_open_fd(&file, fd, &budget) == PS_OK) {
		status = ps_split_open(out, &file, k, &budget);
		ps_elf_close(&file);
	}
	if (fd >= 0)
		close(fd);
	return status == PS_OK;
}

static bool find_split(void *program, const struct ps_skeleton *k, struct ps_split *out)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.dwp", (const char *)program);
	if (open_split(path, k, out))
		return true;
	snprintf(path, sizeof(path), "%s/%s", k->directory ? k->directory : "", k->name);
	return open_split(path, k, out);
}

static int run(const char *path, struct ps_elf *file, struct ps_elf *alt, bool timed)
{
	static uint64_t addresses[1 << 20];
	uint64_t begin = now();
	struct ps_debug d;
	const enum ps_status status = ps_debug_open(&d, file, alt, PS_DEBUG_LINES, &budget);
	char line[64];
	size_t n = 0;

	if (status != PS_OK) {
		printf("no debug information: %d\n", status);
		return 1;
	}
	d.finder = (struct ps_split_finder){ find_split, (void *)(uintptr_t)path };
	if (timed)
		printf("%zu units in %" PRIu64 " us, ", d.nr_units, (now() - begin) / 1000);
	while (fgets(line, sizeof(line), stdin) && n < sizeof(addresses) / sizeof(*addresses)) {
		addresses[n] = strtoull(line, NULL, 16);
		if (!timed)
			show(&d, addresses[n]);
		n++;
	}
	if (timed && n)
		measure(&d, addresses, n);
	ps_debug_close(&d);
	return 0;
}

int main(int argc, char **argv)
{
	const bool timed = argc > 1 && !strcmp(argv[1], "-t");
	struct ps_elf file, alt = { .elf = NULL };
	char **names = argv + 1 + timed;
	int status, fd;

	if (argc < 2 + timed)
		return 1;
	fd = open(names[0], O_RDONLY);
	if (ps_elf_open_fd(&file, fd, &budget) != PS_OK)
		return 1;
	close(fd);
	if (names[1]) {
		fd = open(names[1], O_RDONLY);
		if (ps_elf_open_fd(&alt, fd, &budget) != PS_OK)
			return 1;
		close(fd);
	}
	status = run(names[0], &file, names[1] ? &alt : NULL, timed);
	ps_elf_close(&file);
	if (alt.elf)
		ps_elf_close(&alt);
	if (budget.used)
		printf("%" PRIu64 " bytes are still charged\n", budget.used);
	return status || budget.used;
}
