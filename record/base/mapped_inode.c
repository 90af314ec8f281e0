/* mapped_inode.c - find the numbers of a mapping in /proc/self/maps. */
#include "base/mapped_inode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* START-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH */
static bool find_line(FILE *maps, uintptr_t start, struct mapped_inode *out)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	uint64_t from;

	while (!found && getline(&line, &size, maps) > 0)
		found = sscanf(line, "%" SCNx64 "-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64,
			       &from, &out->maj, &out->min, &out->ino) == 4 && from == start;
	free(line);
	return found;
}

bool mapped_inode_of(int fd, struct mapped_inode *out)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	FILE *maps = map == MAP_FAILED ? NULL : fopen("/proc/self/maps", "re");
	const bool found = maps && find_line(maps, (uintptr_t)map, out);

	if (maps)
		fclose(maps);
	if (map != MAP_FAILED)
		munmap(map, page);
	return found;
}
