/* mapping.h - a file that is mapped as a whole, with a piece at a time in memory.
 *
 * Address space is free. Changing it is not: each change waits until the page faults of all threads
 * are done. So the mapping is made once, and pieces are populated and dropped without changing it.
 */
#ifndef PD_INPUT_MAPPING_H
#define PD_INPUT_MAPPING_H

#include <stddef.h>
#include <stdint.h>

struct pd_mapping {
	const uint8_t *data;	/* NULL: not mapped */
	size_t size;
};

/* Maps the first `size` bytes of the file. Returns 0, or -1 if that is impossible. */
int pd_mapping_open(struct pd_mapping *m, int fd, uint64_t size);
void pd_mapping_close(struct pd_mapping *m);

/* Populates the piece, because all of it will be read. Thread-safe, like pd_mapping_drop(). */
void pd_mapping_bring(const struct pd_mapping *m, size_t from, size_t size);
/* The range was read: drops its pages; reading it again faults them in. Keeps the page it ends
 * in. */
void pd_mapping_drop(const struct pd_mapping *m, size_t from, size_t size);

#endif
