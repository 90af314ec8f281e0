/* go_frame.h - the size of a Go function's frame, which the runtime needs to walk stacks. */
#ifndef PS_IMAGE_GO_FRAME_H
#define PS_IMAGE_GO_FRAME_H

#include "image/go_table.h"

struct ps_go_frame {
	uint64_t start, end;		/* addresses that it is for */
	uint64_t size;			/* bytes from the stack pointer to the return address */
	bool is_outermost;		/* it has no caller */
};

/* Finds the frame at an address. Returns false if the table of functions does not have it. */
bool ps_go_frame_find(const struct ps_go_table *g, uint64_t address, struct ps_go_frame *out);

#endif
