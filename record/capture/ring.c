/* ring.c - read a buffer that the kernel writes; perf_event_open(2), "MMAP layout".
 *
 * The kernel writes data_head, after the data before it: acquire here pairs with a write barrier
 * there. The recorder writes data_tail, after reading the data before it: release here, before the
 * kernel may overwrite it. A backward ring has only a head, which decreases; the kernel does not
 * learn what was read, so output is paused while reading.
 */
#include "capture/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *r, int fd, enum ring_kind kind, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* The kernel honors data_tail only if the mapping is writable. */
	int access = kind == RING_FORWARD ? PROT_READ | PROT_WRITE : PROT_READ;
	void *map = mmap(NULL, page + size, access, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return errno;
	*r = (struct ring){ .kind = kind, .fd = fd, .page = map, .size = size, .cpu = -1,
			    .data = (const uint8_t *)map + page };
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	r->page = NULL;
}

static uint64_t read_head(const struct ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Returns the bytes [from, to) of the stream as spans of the buffer. */
static size_t split_spans(const struct ring *r, uint64_t from, uint64_t to,
			  struct pd_bytes spans[2])
{
	size_t start = from & (r->size - 1), size = (size_t)(to - from);
	size_t first = size < r->size - start ? size : r->size - start;

	if (!size)
		return 0;
	spans[0] = (struct pd_bytes){ r->data + start, first };
	spans[1] = (struct pd_bytes){ r->data, size - first };
	return first < size ? 2 : 1;
}

size_t ring_peek(struct ring *r, struct pd_bytes spans[2])
{
	uint64_t head = read_head(r);

	r->pending = head;
	return split_spans(r, r->tail, head, spans);
}

/* A header has 8 bytes and is aligned to 8: it never wraps. */
static const struct perf_event_header *header_at(const struct ring *r, uint64_t at)
{
	return (const struct perf_event_header *)(r->data + (at & (r->size - 1)));
}

size_t ring_snapshot(struct ring *r, struct pd_bytes spans[2])
{
	uint64_t head, end, limit;

	ioctl(r->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = read_head(r);
	/* Records end where the last snapshot began, or where the kernel overwrote them. */
	limit = r->tail - head < r->size ? r->tail : head + r->size;
	for (end = head; end != limit;) {
		size_t size = header_at(r, end)->size;

		if (size < sizeof(struct perf_event_header) || size > limit - end)
			break;
		end += size;
	}
	r->pending = head;
	return split_spans(r, head, end, spans);
}

void ring_release(struct ring *r)
{
	r->tail = r->pending;
	if (r->kind == RING_FORWARD)
		__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	else
		ioctl(r->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
}

void ring_lend(struct ring *r)
{
	r->tail = r->pending;
}

void ring_give_back(void *page, size_t bytes)
{
	struct perf_event_mmap_page *p = page;

	__atomic_store_n(&p->data_tail, p->data_tail + bytes, __ATOMIC_RELEASE);
}

size_t spans_size(const struct pd_bytes *spans, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += spans[i].size;
	return size;
}

void drain_totals_add(struct drain_totals *t, const struct pd_bytes *spans, size_t n)
{
	size_t at = 0;		/* may exceed the first span: a record can wrap */

	for (size_t i = 0; i < n; i++) {
		while (at + sizeof(struct perf_event_header) <= spans[i].size) {
			const struct perf_event_header *h =
				(const struct perf_event_header *)(spans[i].data + at);

			t->samples += h->type == PERF_RECORD_SAMPLE;
			t->lost_records += h->type == PERF_RECORD_LOST;
			if (h->size < sizeof(*h))
				return;
			at += h->size;
		}
		at -= spans[i].size;
		t->bytes += spans[i].size;
	}
}
