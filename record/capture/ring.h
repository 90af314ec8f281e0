/* ring.h - one mapped buffer into which the kernel writes records. */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pd/bytes.h"

struct perf_event_mmap_page;

enum ring_kind {
	RING_FORWARD,		/* the kernel stops where it was not read */
	RING_BACKWARD,		/* it overwrites the oldest: attr.write_backward */
};

struct ring {
	enum ring_kind kind;
	int fd;			/* of the counter that it was mapped with; borrowed */
	int cpu;		/* -1: any */
	pid_t tid;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t size;		/* a power of two */
	uint64_t tail;		/* read up to here */
	uint64_t pending;	/* handed out, not yet given back */
};

/* What went by, by the headers' types. */
struct tally {
	uint64_t bytes, samples, lost_records;
};

/* 0, or an errno. */
int ring_map(struct ring *r, int fd, enum ring_kind kind, size_t size);
void ring_unmap(struct ring *r);

/* New bytes: 0, 1 or 2 spans, which stay valid until ring_release(). */
size_t ring_peek(struct ring *r, struct pd_bytes spans[2]);
void ring_release(struct ring *r);
/* Instead of ring_release(): they stay valid until they are given back, first to last, by any one thread. Not for a backward
 * ring. Nothing is released before all that was lent is back. */
void ring_lend(struct ring *r);
void ring_give_back(void *page, size_t bytes);	/* r->page */

/* The newest records of a backward ring, newest first, without those that were handed out before.
 * The kernel writes none until ring_release(). */
size_t ring_snapshot(struct ring *r, struct pd_bytes spans[2]);

size_t spans_size(const struct pd_bytes *spans, size_t n);
void tally_add(struct tally *t, const struct pd_bytes *spans, size_t n);

#endif
