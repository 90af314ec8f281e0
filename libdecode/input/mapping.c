/* mapping.c - a mapped file: see mapping.h. */
#include "input/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#define FAULT_AROUND 65536

int pd_mapping_open(struct pd_mapping *m, int fd, uint64_t size)
{
	void *data = size && size <= SIZE_MAX ?
			     mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) :
			     MAP_FAILED;

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

/* Touching a page also maps the cached pages around it, 64 KiB by default. If pages were touched
 * one by one when they are needed, prefetches of later bytes would fail. MADV_POPULATE_READ walks
 * over each page again and takes twice the time. */
void pd_mapping_bring(const struct pd_mapping *m, size_t from, size_t size)
{
	for (size_t at = from; at < from + size; at = (at | (FAULT_AROUND - 1)) + 1)
		(void)*(const volatile uint8_t *)(m->data + at);
}

void pd_mapping_drop(const struct pd_mapping *m, size_t from, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), first = from / page * page,
		     end = (from + size) / page * page;

	if (end > first)
		madvise((void *)(m->data + first), end - first, MADV_DONTNEED);
}
