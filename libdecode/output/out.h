/* out.h - a descriptor to write to: buffered at its end, patched in place. */
#ifndef PD_OUTPUT_OUT_H
#define PD_OUTPUT_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"

#define PD_OUT_PIECE ((size_t)60 * 1024)	/* written at once */
#define PD_OUT_BUFFER (5 * PD_OUT_PIECE)

struct pd_out {
	int fd;
	int failed;		/* the errno of the first failure; sticky */
	uint64_t offset;	/* of the next byte appended */
	uint64_t written;	/* of what was appended, the bytes that reached the descriptor */
	size_t used;
	uint8_t *buffer;
};

/* 0, or -1: no memory. fd is borrowed. */
int pd_out_init(struct pd_out *o, int fd);
void pd_out_free(struct pd_out *o);

/* Each: 0, or the errno. */
int pd_out_append(struct pd_out *o, const void *p, size_t n);
/* Leaves a hole where the descriptor can seek. */
int pd_out_append_zeros(struct pd_out *o, uint64_t n);
int pd_out_flush(struct pd_out *o);
/* Writes at a place, before or behind what was appended; only where the descriptor can seek. */
int pd_out_at(struct pd_out *o, uint64_t offset, const void *p, size_t n);
/* After a failure: forgets it and what waits in the buffer, and cuts a file off at `end`. Nothing can be appended then. */
void pd_out_cut(struct pd_out *o, uint64_t end);

#endif
