/* kcore_copy.h - copy ranges of addresses from an ELF core file to a smaller core file. */
#ifndef RECORD_KCORE_COPY_H
#define RECORD_KCORE_COPY_H

#include <stddef.h>
#include <stdint.h>

struct code_range {
	uint64_t start, end;
};

/* Sorts the ranges, extends them to whole pages of `page` bytes, and joins those that touch.
 * Returns the number of ranges left. */
size_t code_ranges_join(struct code_range *ranges, size_t n, uint64_t page);
/* Writes the ranges that `from` contains to the empty file `to`. Returns 0, or an errno: ENOEXEC if
 * `from` is no core file of this machine's kind, ENODATA if it contains none of the ranges, EFBIG
 * if they are larger than the limit. */
int kcore_copy(int from, int to, const struct code_range *ranges, size_t n);

#endif
