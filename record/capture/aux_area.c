/* aux_area.c - the kernel writes aux_head, the recorder aux_tail, with the barriers of ring.c. */
#include "capture/aux_area.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/clock.h"

int aux_area_map(struct aux_area *a, const struct ring *r, size_t size, enum aux_kind kind,
		 uint32_t idx)
{
	/* Without PROT_WRITE the hardware overwrites the oldest data. */
	int access = kind == AUX_FULL ? PROT_READ | PROT_WRITE : PROT_READ;
	uint64_t offset = (uint64_t)sysconf(_SC_PAGESIZE) + r->size;
	void *map;

	offset = (offset + size - 1) / size * size;
	r->page->aux_offset = offset;
	r->page->aux_size = size;
	map = mmap(NULL, size, access, MAP_SHARED, r->fd, (off_t)offset);
	if (map == MAP_FAILED)
		return errno == EOPNOTSUPP ? ENOTSUP : errno;
	*a = (struct aux_area){ .kind = kind, .ring = r, .idx = idx, .data = map, .size = size };
	return 0;
}

void aux_area_unmap(struct aux_area *a)
{
	if (a->data)
		munmap(a->data, a->size);
	a->data = NULL;
}

/* Copies data that may wrap: the payload of a record is contiguous, and a multiple of 8 bytes. */
static uint8_t *copy_unwrapped(const struct aux_area *a, uint64_t from, size_t size, size_t padded)
{
	size_t start = from % a->size;
	size_t first = size < a->size - start ? size : a->size - start;
	uint8_t *copy = calloc(1, padded);

	if (!copy)
		return NULL;
	memcpy(copy, a->data + start, first);
	memcpy(copy + first, a->data, size - first);
	return copy;
}

/* Time of reading: decoders order traces without timestamps by it. */
static uint64_t reference_time(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return clock_ns();
#endif
}

int aux_area_write(struct aux_area *a, struct pd_writer *w, struct pd_error *e)
{
	struct perf_event_mmap_page *page = a->ring->page;
	uint64_t head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
	uint64_t from = head - a->tail > a->size ? head - a->size : a->tail;
	size_t size = (size_t)(head - from), padded = (size + 7) & ~(size_t)7;
	uint64_t before;
	uint8_t *copy;
	int err;

	if (!size)
		return 0;
	copy = copy_unwrapped(a, from, size, padded);
	if (!copy) {
		*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
		return -1;
	}
	const struct pd_value fields[] = {
		PD_NUMBER("data_size", padded), PD_NUMBER("data_offset", from),
		PD_NUMBER("reference", reference_time()), PD_NUMBER("idx", a->idx),
		PD_NUMBER("tid", a->ring->tid), PD_NUMBER("cpu", a->ring->cpu),
	};
	before = pd_writer_size(w);
	err = pd_writer_record(w, PD_RECORD_AUXTRACE, 0, -1, fields, 6,
			       (struct pd_bytes){ copy, padded }, e);
	/* Still in the compressor's buffer: flush, as the caller needs the offset in the file. */
	if (!err && pd_writer_size(w) == before)
		err = pd_writer_flush(w, e);
	free(copy);
	a->tail = head;
	if (a->kind == AUX_FULL)
		__atomic_store_n(&page->aux_tail, head, __ATOMIC_RELEASE);
	return err;
}
