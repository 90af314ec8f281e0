/* map_own.c - map_own read|map LIMIT SKIP PATH: opens the file from byte SKIP on and reads it. Lines: how much of it is mapped at the
 * first record, how many records there are, a sum over all their bytes and places, how it ended, what is still mapped then. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pd/pd.h"

static unsigned long mapped(const char *path)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to, size = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, path) && sscanf(line, "%lx-%lx", &from, &to) == 2)
			size += to - from;
	if (f)
		fclose(f);
	return size;
}

static void add(uint64_t *sum, const void *p, size_t n)
{
	for (const uint8_t *at = p; n--; at++)
		*sum = (*sum ^ *at) * 0x100000001b3;
}

int main(int argc, char **argv)
{
	const int fd = argc == 5 ? open(argv[4], O_RDONLY) : -1;
	const struct pd_options *o;
	const struct pd_record *record;
	struct pd_reader *r = NULL;
	uint64_t sum = 0, records = 0;
	unsigned long at_first = 0;
	struct pd_error e;
	int got;

	if (fd < 0 || lseek(fd, atol(argv[3]), SEEK_SET) < 0)
		return 2;
	o = PD_OPTIONS(.access = strcmp(argv[1], "map") == 0 ? PD_MAP_OWN : PD_READ, .memory_limit = strtoull(argv[2], NULL, 0));
	r = pd_open_fd(fd, o, &e);
	if (!r)
		return 2;
	while ((got = pd_next(r, &record, &e)) == 1) {
		const struct pd_bytes bytes = pd_record_bytes(record);
		const uint64_t offset = pd_record_offset(record);

		if (!records++)
			at_first = mapped(argv[4]);
		add(&sum, &offset, sizeof(offset));
		add(&sum, bytes.data, bytes.size);
	}
	printf("%lu\n%llu\n%llx\n%d\n", at_first, (unsigned long long)records, (unsigned long long)sum, got);
	pd_close(r);
	printf("%lu\n", mapped(argv[4]));
	return 0;
}
