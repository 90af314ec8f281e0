/* perf_clock.c - read the kernel's perf clock, which no system call returns.
 *
 * A sample has its time: a page fault of our own, between two readings of the wall clock, gives
 * both.
 */
#include "capture/perf_clock.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/abi.h"
#include "capture/ring.h"
#include "pd/types.h"
#include "process/clock.h"

#define ATTEMPTS 4	/* keeps the one that an interrupt disturbed least */

static uint64_t wall_clock_ns(void)
{
	struct timespec ts;

	return clock_gettime(CLOCK_REALTIME, &ts) == 0 ? clock_in_ns(&ts) : 0;
}

/* Opens a counter of this thread's page faults, whose samples are times. */
static int open_counter(void)
{
	const struct event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV,
	};

	return abi_event_open(&attr, 0, -1, -1, 0);
}

/* Gets the time of the first sample in the buffer, and empties it. */
static bool take_time(struct ring *r, uint64_t *time)
{
	const struct { struct perf_event_header header; uint64_t time; } *sample;
	struct pd_bytes spans[2];
	const size_t n = ring_peek(r, spans);
	bool found = false;

	if (n && spans[0].size >= sizeof(*sample)) {
		sample = (const void *)spans[0].data;
		found = sample->header.type == PD_RECORD_SAMPLE &&
			sample->header.size == sizeof(*sample);
		*time = sample->time;
	}
	ring_release(r);
	return found;
}

static bool read_pair(struct ring *r, struct perf_clock_pair *out, uint64_t *width)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t ignored, before;
	bool found;

	if (fresh == MAP_FAILED)
		return false;
	wall_clock_ns();	/* its own page fault must not be the first sample */
	take_time(r, &ignored);
	before = wall_clock_ns();
	*fresh = 1;
	*width = wall_clock_ns() - before;
	found = take_time(r, &out->perf);
	out->wall = before + *width / 2;
	munmap((void *)fresh, size);
	return found && before;
}

bool perf_clock_read(struct perf_clock_pair *out)
{
	struct perf_clock_pair pair;
	uint64_t width, best = UINT64_MAX;
	struct ring ring = { .page = NULL };
	const int fd = open_counter();

	if (fd < 0)
		return false;
	if (ring_map(&ring, fd, RING_FORWARD, (size_t)sysconf(_SC_PAGESIZE)) == 0) {
		for (int i = 0; i < ATTEMPTS; i++)
			if (read_pair(&ring, &pair, &width) && width < best) {
				best = width;
				*out = pair;
			}
		ring_unmap(&ring);
	}
	close(fd);
	return best != UINT64_MAX;
}
