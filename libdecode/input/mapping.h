/* mapping.h - a file that is mapped as a whole, of which a piece at a time is in memory.
 *
 * The address space costs nothing. What does is a change of it, for which all threads wait until the kernel has brought pages for
 * any of them: it is made once, and pieces come and go without.
 */
#ifndef PD_INPUT_MAPPING_H
#define PD_INPUT_MAPPING_H

#include <stddef.h>
#include <stdint.h>

struct pd_mapping {
	const uint8_t *data;	/* NULL: it is not mapped */
	size_t size;
};

/* The first `size` bytes of the file; -1: they can't be. */
int pd_mapping_open(struct pd_mapping *m, int fd, uint64_t size);
void pd_mapping_close(struct pd_mapping *m);

/* All of the piece will be read. Thread-safe, like the next. */
void pd_mapping_bring(const struct pd_mapping *m, size_t from, size_t size);
/* It was; who reads it again gets the same bytes, later. The page it ends in stays for what comes next. */
void pd_mapping_drop(const struct pd_mapping *m, size_t from, size_t size);

#endif
