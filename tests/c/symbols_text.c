/* symbols_text.c - what libpdsymbols reads from other sources than ELF files.
 *
 *   symbols_text kallsyms|perfmap|jitdump FILE [ADDRESS...]     the symbol at each address; without
 *                                                               one: all of kallsyms
 *   symbols_text modules FILE
 *   symbols_text flat                                           ranges "start end" on standard
 *                                                               input, then the points
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/flat.h"
#include "jit/code.h"
#include "kernel/kallsyms.h"

static struct pd_budget budget = { .limit = 1u << 30 };
static char *bytes;

static struct pd_bytes read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t n = 0, room = 1 << 20;

	bytes = malloc(room);
	while (f && bytes) {
		const size_t got = fread(bytes + n, 1, room - n, f);

		n += got;
		if (!got)
			break;
		if (n == room)
			bytes = realloc(bytes, room *= 2);
	}
	if (f)
		fclose(f);
	return (struct pd_bytes){ (uint8_t *)bytes, n };
}

static void print(bool found, const struct ps_symbol *s)
{
	if (found)
		printf("%" PRIx64 " %" PRIx64 " %.*s\n", s->start, s->end, (int)s->name_size,
		       s->name);
	else
		puts("-");
}

static int kallsyms(struct pd_bytes text, int n, char **addresses)
{
	const clock_t begin = clock();
	struct ps_kallsyms k;
	const enum ps_status status = ps_kallsyms_read(&k, text, &budget);
	struct ps_symbol s;

	if (status != PS_OK)
		return printf("%d\n", status) < 0;
	printf("%zu %" PRIx64 " %s %ld us\n", k.symbols.nr, k.text,
	       k.is_restricted ? "restricted" : "open",
	       (long)((clock() - begin) * 1000000 / CLOCKS_PER_SEC));
	for (int i = 0; i < n; i++) {
		const bool found = ps_symtab_find(&k.symbols, strtoull(addresses[i], NULL, 16), &s);

		print(found, &s);
	}
	for (size_t i = 0; !n && i < k.symbols.nr; i++) {
		s = ps_symtab_at(&k.symbols, i);
		print(true, &s);
	}
	ps_kallsyms_free(&k);
	return 0;
}

static int jit(const char *what, struct pd_bytes in, int n, char **addresses)
{
	struct ps_jit_code c;
	const enum ps_status status = !strcmp(what, "jitdump")
					      ? ps_jit_read_jitdump(&c, in, &budget)
					      : ps_jit_read_perf_map(&c, in, &budget);
	struct ps_symbol s;

	if (status != PS_OK)
		return printf("%d\n", status) < 0;
	for (int i = 0; i < n; i++) {	/* ADDRESS, ADDRESS@TIME, ADDRESS@FROM-TO */
		char *end;
		const uint64_t address = strtoull(addresses[i], &end, 16);
		const uint64_t time = *end ? strtoull(end + 1, &end, 10) : 0;
		const struct ps_jit_time when = {
			time, *end ? strtoull(end + 1, NULL, 10) : time ? time : UINT64_MAX };
		const enum ps_jit_found found = ps_jit_find(&c, address, when, &s);

		if (found == PS_JIT_SEVERAL)
			puts("several");
		else
			print(found != PS_JIT_NOTHING, &s);
	}
	ps_jit_free(&c);
	return 0;
}

static void modules(struct pd_bytes text)
{
	struct ps_module m;

	while (ps_modules_next(&text, &m))
		printf("%.*s %" PRIx64 " %" PRIu64 "\n", (int)m.name_size, m.name, m.address,
		       m.size);
}

static void flat(void)
{
	static struct ps_range ranges[4096];
	struct ps_flat f = { .budget = &budget };
	uint32_t n = 0;

	while (n < 4096 && scanf("%" SCNu64 " %" SCNu64, &ranges[n].start, &ranges[n].end) == 2) {
		ranges[n].value = n;
		n++;
	}
	ps_flat_build(&f, ranges, n);
	for (uint64_t at = 0; at < 1000; at++)
		printf("%d\n", (int)ps_flat_find(&f, at));
	ps_flat_free(&f);
}

int main(int argc, char **argv)
{
	int status = argc < 2;

	if (argc == 2 && !strcmp(argv[1], "flat"))
		flat();
	else if (argc == 3 && !strcmp(argv[1], "modules"))
		modules(read_file(argv[2]));
	else if (argc > 2 && !strcmp(argv[1], "kallsyms"))
		status = kallsyms(read_file(argv[2]), argc - 3, argv + 3);
	else if (argc > 2)
		status = jit(argv[1], read_file(argv[2]), argc - 3, argv + 3);
	free(bytes);
	if (budget.used)
		printf("%" PRIu64 " bytes are still charged\n", budget.used);
	return status;
}
