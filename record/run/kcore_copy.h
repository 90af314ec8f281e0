/* kcore_copy.h - the parts of an ELF core file that hold some ranges of addresses, as a smaller core file. */
#ifndef RECORD_KCORE_COPY_H
#define RECORD_KCORE_COPY_H

#include <stddef.h>
#include <stdint.h>

struct code_range {
	uint64_t start, end;
};

/* Sorts the ranges, extends them to whole pages of `page` bytes, and joins those that touch. Returns how many are left. */
size_t code_ranges_join(struct code_range *ranges, size_t n, uint64_t page);
/* Writes to the empty file `to` a core file with what the segments of `from` have of the ranges. 0; or an errno: ENOEXEC is no
 * core file of this machine's kind, ENODATA holds none of the ranges, EFBIG more than the limit. */
int kcore_copy(int from, int to, const struct code_range *ranges, size_t n);

#endif
