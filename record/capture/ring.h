/* ring.h - a mapped ring buffer into which the kernel writes records. */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pd/bytes.h"

struct perf_event_mmap_page;

enum ring_kind {
	RING_FORWARD,		/* the kernel stops at unread data */
	RING_BACKWARD,		/* the kernel overwrites the oldest records: attr.write_backward */
};

struct ring {
	enum ring_kind kind;
	int fd;			/* of the counter that maps it; borrowed */
	int cpu;		/* -1: any */
	pid_t tid;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t size;		/* a power of two */
	uint64_t tail;		/* position of the first unread byte */
	uint64_t pending;	/* tail after ring_release() */
};

/* Totals of drained records. */
struct drain_totals {
	uint64_t bytes, samples, lost_records;
};

/* Returns 0, or an errno. */
int ring_map(struct ring *r, int fd, enum ring_kind kind, size_t size);
void ring_unmap(struct ring *r);

/* Stores the unread bytes as 0, 1 or 2 spans and returns their number. Borrowed until
 * ring_release(). */
size_t ring_peek(struct ring *r, struct pd_bytes spans[2]);
void ring_release(struct ring *r);
/* Instead of ring_release(), for forward rings: the spans stay borrowed until ring_give_back(),
 * which one thread calls for their bytes in order. ring_release() must not be called before all of
 * them are back. */
void ring_lend(struct ring *r);
void ring_give_back(void *page, size_t bytes);	/* r->page */

/* Stores the records of a backward ring since the last snapshot, newest first. The kernel writes
 * none until ring_release(). */
size_t ring_snapshot(struct ring *r, struct pd_bytes spans[2]);

size_t spans_size(const struct pd_bytes *spans, size_t n);
void drain_totals_add(struct drain_totals *t, const struct pd_bytes *spans, size_t n);

#endif
