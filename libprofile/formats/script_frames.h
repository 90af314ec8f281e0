/* script_frames.h - the lines that text in the layout of perf script has for frames. */
#ifndef PP_SCRIPT_FRAMES_H
#define PP_SCRIPT_FRAMES_H

#include "encoding/out.h"

/* The lines of each frame, made once. Must be zero-initialized, but for the first two
 * members. */
struct pp_frame_lines {
	uint32_t fields;	/* of enum pp_field: what lines have */
	bool are_open;		/* the last line of each frame goes on: it has no newline */
	struct pp_lines {
		size_t start;	/* in the profile's strings, without addresses */
		uint32_t size;	/* of all; 0: not made yet */
		uint32_t first;	/* bytes of the first line */
	} *items;
	size_t capacity;
	char *text;		/* of a frame while it is made */
	size_t text_capacity;
};

/* Writes a line for each function that is inlined at a frame, and one for that they are in: the
 * character `before`, the address, the name. Returns PD_OK, or PD_E_LIMIT without memory. */
enum pd_code pp_put_frame(struct pp_frame_lines *l, struct pp_out *out, uint32_t frame, char before,
			  uint64_t address);

void pp_frame_lines_free(struct pp_frame_lines *l, struct pp_memory *m);

#endif
