/* ring_content.c - record/capture/ring.c over buffers filled here as the kernel fills them: a line
 * for each thing that is not as it must be. The buffers lie in a memfd, whose ioctl(2) does
 * nothing. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/ring.h"
#include "check.h"

enum { SIZE = 4096 };

/* The kernel's side: the same memory, mapped once more. */
struct kernel {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t head;
	uint8_t next;			/* what fills the next record */
};

static struct kernel open_ring(struct ring *r, enum ring_kind kind)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct kernel k = { .fd = memfd_create("ring", 0), .next = 1 };
	void *map;

	if (k.fd < 0 || ftruncate(k.fd, (off_t)(page + SIZE)) || ring_map(r, k.fd, kind, SIZE))
		exit(2);
	map = mmap(NULL, page + SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
	if (map == MAP_FAILED)
		exit(2);
	k.page = map;
	k.data = (uint8_t *)map + page;
	return k;
}

static void close_ring(struct ring *r, struct kernel *k)
{
	munmap(k->page, (size_t)sysconf(_SC_PAGESIZE) + SIZE);
	ring_unmap(r);
	close(k->fd);
}

static void put_bytes(struct kernel *k, uint64_t at, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		k->data[(at + i) & (SIZE - 1)] = bytes[i];
}

static void put_record(struct kernel *k, uint64_t at, uint32_t type, uint16_t size)
{
	struct perf_event_header header = { .type = type, .size = size };
	uint8_t bytes[SIZE];

	memset(bytes, k->next++, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	put_bytes(k, at, bytes, size);
}

static void write_forward(struct kernel *k, uint32_t type, uint16_t size)
{
	put_record(k, k->head, type, size);
	k->head += size;
	k->page->data_head = k->head;
}

static void write_backward(struct kernel *k, uint32_t type, uint16_t size)
{
	k->head -= size;
	put_record(k, k->head, type, size);
	k->page->data_head = k->head;
}

static void start_at(struct ring *r, struct kernel *k, uint64_t at)
{
	k->head = k->page->data_head = k->page->data_tail = r->tail = at;
}

/* The spans in one piece. */
static size_t join(const struct pd_bytes *spans, size_t n, uint8_t *out)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(out + size, spans[i].data, spans[i].size);
		size += spans[i].size;
	}
	return size;
}

static void nothing_new(void)
{
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_FORWARD);

	CHECK(ring_peek(&r, spans) == 0);
	ring_release(&r);
	CHECK(k.page->data_tail == 0);
	close_ring(&r, &k);
}

static void records_in_one_piece(void)
{
	struct drain_totals t = { 0 };
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_FORWARD);

	write_forward(&k, PERF_RECORD_SAMPLE, 40);
	write_forward(&k, PERF_RECORD_LOST, 24);
	CHECK(ring_peek(&r, spans) == 1 && spans[0].size == 64);
	CHECK(memcmp(spans[0].data, k.data, 64) == 0);
	CHECK(k.page->data_tail == 0);
	/* A record written after the peek belongs to the next one. */
	write_forward(&k, PERF_RECORD_SAMPLE, 16);
	drain_totals_add(&t, spans, 1);
	ring_release(&r);
	CHECK(k.page->data_tail == 64 && t.samples == 1 && t.lost_records == 1 && t.bytes == 64);
	CHECK(ring_peek(&r, spans) == 1 && spans[0].size == 16);
	ring_release(&r);
	CHECK(k.page->data_tail == 80);
	close_ring(&r, &k);
}

/* `first` bytes of a record of 48 lie at the buffer's end. */
static void a_record_that_wraps(uint16_t first, uint64_t turns)
{
	uint8_t expected[48], got[SIZE];
	struct drain_totals t = { 0 };
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_FORWARD);
	size_t n;

	start_at(&r, &k, turns * SIZE + SIZE - first);
	write_forward(&k, PERF_RECORD_SAMPLE, 48);
	memset(expected, k.next - 1, sizeof(expected));
	memcpy(expected, &(struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 48 }, 8);
	write_forward(&k, PERF_RECORD_SAMPLE, 8);
	n = ring_peek(&r, spans);
	CHECK(n == 2 && spans[0].size == first && spans[1].size == 56u - first);
	CHECK(spans_size(spans, n) == 56 && join(spans, n, got) == 56);
	CHECK(memcmp(got, expected, 48) == 0);
	drain_totals_add(&t, spans, n);
	CHECK(t.samples == 2 && t.bytes == 56);
	ring_release(&r);
	CHECK(k.page->data_tail == k.head);
	close_ring(&r, &k);
}

static void a_full_buffer(void)
{
	struct drain_totals t = { 0 };
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_FORWARD);

	start_at(&r, &k, 3 * SIZE + 24);
	for (size_t i = 0; i < SIZE / 32; i++)
		write_forward(&k, PERF_RECORD_SAMPLE, 32);
	CHECK(ring_peek(&r, spans) == 2 && spans_size(spans, 2) == SIZE);
	drain_totals_add(&t, spans, 2);
	CHECK(t.samples == SIZE / 32);
	close_ring(&r, &k);
}

static void the_positions_overflow(void)
{
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_FORWARD);

	start_at(&r, &k, (uint64_t)0 - 16);
	write_forward(&k, PERF_RECORD_SAMPLE, 40);
	CHECK(k.head == 24 && ring_peek(&r, spans) == 2);
	CHECK(spans[0].size == 16 && spans[1].size == 24);
	ring_release(&r);
	CHECK(ring_peek(&r, spans) == 0);
	close_ring(&r, &k);
}

/* A kernel would not: nothing is counted then, and nothing is walked for ever. */
static void sizes_that_can_not_be(void)
{
	struct drain_totals t = { 0 };
	uint8_t bytes[24] = { 0 };
	const struct pd_bytes span = { bytes, sizeof(bytes) }, cut = { bytes, 4 };

	drain_totals_add(&t, &span, 1);
	drain_totals_add(&t, &cut, 1);
	drain_totals_add(&t, NULL, 0);
	CHECK(t.samples == 0);
	memcpy(bytes, &(struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 60000 }, 8);
	drain_totals_add(&t, &span, 1);
	CHECK(t.samples == 1);
}

static void the_newest_come_first(void)
{
	uint8_t got[SIZE];
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_BACKWARD);
	size_t n;

	CHECK(ring_snapshot(&r, spans) == 0);
	ring_release(&r);
	write_backward(&k, PERF_RECORD_SAMPLE, 24);
	write_backward(&k, PERF_RECORD_LOST, 40);
	n = ring_snapshot(&r, spans);
	CHECK(n == 1 && spans[0].size == 64 && join(spans, n, got) == 64);
	CHECK(((struct perf_event_header *)got)->type == PERF_RECORD_LOST);
	ring_release(&r);
	/* Once more: only what is new. */
	CHECK(ring_snapshot(&r, spans) == 0);
	ring_release(&r);
	write_backward(&k, PERF_RECORD_SAMPLE, 32);
	CHECK(ring_snapshot(&r, spans) == 1 && spans[0].size == 32);
	ring_release(&r);
	/* The kernel is never told what was read. */
	CHECK(k.page->data_tail == 0);
	close_ring(&r, &k);
}

/* The oldest record has lost its end to the newest: it must not be handed out. */
static void the_oldest_is_torn(void)
{
	struct drain_totals t = { 0 };
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_BACKWARD);
	const size_t whole = SIZE / 40;
	size_t n;

	for (size_t i = 0; i < 5 * whole; i++)
		write_backward(&k, PERF_RECORD_SAMPLE, 40);
	n = ring_snapshot(&r, spans);
	CHECK(spans_size(spans, n) == whole * 40 && SIZE % 40 != 0);
	drain_totals_add(&t, spans, n);
	CHECK(t.samples == whole);
	ring_release(&r);
	close_ring(&r, &k);
}

/* More came since the last snapshot than the buffer holds; and exactly as much. */
static void overwritten_between_snapshots(void)
{
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_BACKWARD);

	write_backward(&k, PERF_RECORD_SAMPLE, 64);
	ring_snapshot(&r, spans);
	ring_release(&r);
	for (size_t i = 0; i < 2 * SIZE / 64; i++)
		write_backward(&k, PERF_RECORD_SAMPLE, 64);
	CHECK(spans_size(spans, ring_snapshot(&r, spans)) == SIZE);
	ring_release(&r);
	for (size_t i = 0; i < SIZE / 64; i++)
		write_backward(&k, PERF_RECORD_SAMPLE, 64);
	CHECK(spans_size(spans, ring_snapshot(&r, spans)) == SIZE);
	close_ring(&r, &k);
}

static void a_snapshot_stops_after_the_last_record(void)
{
	struct pd_bytes spans[2];
	struct ring r;
	struct kernel k = open_ring(&r, RING_BACKWARD);

	write_backward(&k, PERF_RECORD_SAMPLE, 32);
	put_bytes(&k, k.head, (const uint8_t[8]){ 0 }, 8);
	write_backward(&k, PERF_RECORD_SAMPLE, 48);
	CHECK(ring_snapshot(&r, spans) == 1 && spans[0].size == 48);
	close_ring(&r, &k);
}

int main(void)
{
	nothing_new();
	records_in_one_piece();
	for (uint16_t first = 8; first < 48; first += 8)
		a_record_that_wraps(first, first / 8u);
	a_full_buffer();
	the_positions_overflow();
	sizes_that_can_not_be();
	the_newest_come_first();
	the_oldest_is_torn();
	overwritten_between_snapshots();
	a_snapshot_stops_after_the_last_record();
	return failures != 0;
}
