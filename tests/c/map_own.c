/* map_own.c - map_own read|map LIMIT SKIP PATH: opens the file from byte SKIP on and reads it.
 * Lines: how much of it is mapped at the first record, the most of that that is in memory at one of
 * them, how many records there are, a sum over all their bytes and places, how it ended, what is
 * still mapped then. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pd/pd.h"

#define EVERY 10000	/* records between looks at that */

struct mapped {
	unsigned long bytes, in_memory;
};

static struct mapped mapped(const char *path)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	struct mapped all = { 0, 0 };
	unsigned long from, to, kib;
	char line[4096];
	int ours = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
			ours = strstr(line, path) != NULL;
			all.bytes += ours ? to - from : 0;
		} else if (ours && sscanf(line, "Rss: %lu kB", &kib) == 1) {
			all.in_memory += kib << 10;
		}
	}
	if (f)
		fclose(f);
	return all;
}

static void add(uint64_t *sum, const void *p, size_t n)
{
	for (const uint8_t *at = p; n--; at++)
		*sum = (*sum ^ *at) * 0x100000001b3;
}

int main(int argc, char **argv)
{
	const int fd = argc == 5 ? open(argv[4], O_RDONLY) : -1;
	const struct pd_reader_options *o;
	const struct pd_record *record;
	struct pd_reader *r = NULL;
	uint64_t sum = 0, records = 0;
	struct mapped at_first = { 0, 0 }, now;
	struct pd_error e;
	int got;

	if (fd < 0 || lseek(fd, atol(argv[3]), SEEK_SET) < 0)
		return 2;
	o = PD_READER_OPTIONS(.access = strcmp(argv[1], "map") == 0 ? PD_MAP_OWN : PD_READ,
			      .memory_limit = strtoull(argv[2], NULL, 0));
	r = pd_reader_open_fd(fd, o, &e);
	if (!r)
		return 2;
	while ((got = pd_reader_next(r, &record, &e)) == 1) {
		const struct pd_bytes bytes = pd_record_bytes(record);
		const uint64_t offset = pd_record_offset(record);

		if (records++ % EVERY == 0) {
			now = mapped(argv[4]);
			at_first.bytes = records == 1 ? now.bytes : at_first.bytes;
			at_first.in_memory = now.in_memory > at_first.in_memory
						     ? now.in_memory
						     : at_first.in_memory;
		}
		add(&sum, &offset, sizeof(offset));
		add(&sum, bytes.data, bytes.size);
	}
	printf("%lu\n%lu\n%llu\n%llx\n%d\n", at_first.bytes, at_first.in_memory,
	       (unsigned long long)records, (unsigned long long)sum, got);
	pd_reader_free(r);
	printf("%lu\n", mapped(argv[4]).bytes);
	return 0;
}
