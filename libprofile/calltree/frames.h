/* frames.h - the distinct places in a profile: addresses in images, and names above the stacks. */
#ifndef PP_FRAMES_H
#define PP_FRAMES_H

#include "store/index.h"
#include "pd/history.h"
#include "pd/names.h"

/* Kinds of frames. The page's colors and the letters of its data follow this order. */
enum pp_kind {
	PP_KIND_KERNEL,
	PP_KIND_PROGRAM,
	PP_KIND_LIBRARY,
	PP_KIND_JIT,
	PP_KIND_INLINED,
	PP_KIND_UNKNOWN,
	PP_KIND_THREAD,		/* a task's name or number */
	PP_KIND_NOTE,		/* "[small]" */
	PP_KIND_WAIT,		/* "[blocked]": the stacks below are of a thread that waits */
	PP_KIND_EVENT,		/* these three are merged into their parents */
	PP_KIND_IDLE,		/* the stacks below are of pid 0 */
	PP_KIND_CUT,		/* and below here are cut */
};

/* Returns whether frames of a kind are part of a stack, not a group above it. */
static inline bool pp_is_in_stack(uint8_t kind)
{
	return kind <= PP_KIND_UNKNOWN || kind == PP_KIND_NOTE || kind == PP_KIND_WAIT;
}

struct pp_frame {
	struct pd_location at;	/* of the first such address */
	uint64_t since;		/* pd_namer.since() */
	int32_t pid;		/* of the first sample; part of the key in memory without a file */
	uint32_t text;		/* of THREAD, NOTE, WAIT: in the strings; of EVENT: the event */
	uint8_t kind;
};

/* The frame of an address that was added lately. */
struct pp_lately {
	uint64_t addr, file_offset;
	uint32_t image;
	int32_t pid;
	uint8_t cpumode, why, flags;
	uint32_t frame;		/* + 1; 0: free */
};

/* Must be zero-initialized, except for the namer. */
struct pp_frames {
	const struct pd_namer *namer;	/* or NULL */
	struct pp_frame *items;
	size_t nr, capacity;
	struct pp_index index;
	struct pp_lately *lately;	/* by a hash of the address; NULL: no memory for them */
	uint8_t *kinds;		/* enum pp_kind + 1 of the frames in each image; 0: not known yet */
	size_t nr_kinds;
};

/* All return the number of the frame, added if it is new; PP_NONE without memory. */
uint32_t pp_frames_add(struct pp_frames *f, struct pp_memory *m, const struct pp_frame *frame);
uint32_t pp_frames_add_text(struct pp_frames *f, struct pp_memory *m, enum pp_kind kind,
			    uint32_t text);
uint32_t pp_frames_add_address(struct pp_frames *f, struct pp_memory *m,
			       const struct pd_history *h, int32_t pid,
			       const struct pd_location *at);

void pp_frames_free(struct pp_frames *f, struct pp_memory *m);

#endif
