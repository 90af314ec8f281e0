/* mapping.c - a file that is mapped: see mapping.h. */
#include "file/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22	/* Linux 5.14 */
#endif

int pd_mapping_open(struct pd_mapping *m, int fd, uint64_t size)
{
	void *data = size && size <= SIZE_MAX ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (data == MAP_FAILED)
		return -1;
	*m = (struct pd_mapping){ data, (size_t)size };
	return 0;
}

void pd_mapping_close(struct pd_mapping *m)
{
	if (m->data)
		munmap((void *)m->data, m->size);
	m->data = NULL;
}

/* Pages that come at once cost a third of what they do one fault after the other: that is how they come where this is not known. */
void pd_mapping_bring(const struct pd_mapping *m, size_t from, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = from % page;

	madvise((void *)(m->data + from - before), size + before, MADV_POPULATE_READ);
}

void pd_mapping_drop(const struct pd_mapping *m, size_t from, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), first = from / page * page, end = (from + size) / page * page;

	if (end > first)
		madvise((void *)(m->data + first), end - first, MADV_DONTNEED);
}
