/* records_end.c - steps from record to record in a window over a file. */
#include "stream/records_end.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "layout/records.h"

enum { WINDOW = 1 << 18 };	/* larger than any record (64 KiB) */

/* Returns the size of the first record of `in`, including its payload; 0 if it is cut short. */
static uint64_t record_size(struct pd_session *s, struct pd_bytes in)
{
	struct pd_cursor c = pd_cursor(in, s->swap);
	struct pd_record_header h;

	if (!pd_take_record_header(&c, &h) || h.size < PD_RECORD_HEADER_SIZE || h.size > in.size)
		return 0;
	return h.size +
	       pd_session_payload(s, pd_record_desc(h.type), (struct pd_bytes){ in.data, h.size });
}

/* Returns the size of the whole records in the window, at most `most`. */
static uint64_t step_through(struct pd_session *s, struct pd_bytes window, uint64_t most)
{
	uint64_t at = 0, size;

	while (at < window.size) {
		size = record_size(s,
				   (struct pd_bytes){ window.data + at, window.size - (size_t)at });
		if (!size || size > most - at)
			break;
		at += size;
	}
	return at;
}

uint64_t pd_records_end(struct pd_session *s, int fd, uint64_t from, uint64_t to)
{
	uint8_t *window = malloc(WINDOW);

	while (window && from < to) {
		const size_t ask = to - from < WINDOW ? (size_t)(to - from) : WINDOW;
		const ssize_t n = pread(fd, window, ask, (off_t)from);
		uint64_t step;

		if (n < 0 && errno == EINTR)
			continue;
		step = n > 0 ? step_through(s, (struct pd_bytes){ window, (size_t)n }, to - from) :
			       0;
		if (!step)
			break;
		from += step;
	}
	free(window);
	return from;
}
