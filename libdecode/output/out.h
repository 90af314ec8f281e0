/* out.h - output to a descriptor: appended with a buffer, or patched in place. */
#ifndef PD_OUTPUT_OUT_H
#define PD_OUTPUT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"

#define PD_OUT_PIECE ((size_t)60 * 1024)	/* bytes per write(2) */
#define PD_OUT_BUFFER (5 * PD_OUT_PIECE)

struct pd_out {
	int fd;
	int failed;		/* errno of the first failure; sticky */
	uint64_t offset;	/* of the next byte appended */
	uint64_t written;	/* appended bytes that reached the descriptor */
	uint64_t reserved;	/* bytes for which there is space, or none was asked for */
	bool has_reserve;
	size_t used;
	uint8_t *buffer;
};

/* Returns 0, or -1 if out of memory. fd is borrowed. */
int pd_out_init(struct pd_out *o, int fd);
void pd_out_free(struct pd_out *o);

/* Each returns 0 or an errno. */
int pd_out_append(struct pd_out *o, const void *p, size_t n);
/* Leaves a hole if the descriptor can seek. */
int pd_out_append_zeros(struct pd_out *o, uint64_t n);
int pd_out_flush(struct pd_out *o);
/* Writes at an offset, before or after what was appended; the descriptor must be able to seek. */
int pd_out_at(struct pd_out *o, uint64_t offset, const void *p, size_t n);
/* After a failure: clears it, drops the buffer and truncates the file to `end`. Nothing may be
 * appended afterwards. */
void pd_out_cut(struct pd_out *o, uint64_t end);

#endif
