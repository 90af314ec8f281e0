/* end.h - why a chain ends where it does. */
#ifndef PS_UNWIND_END_H
#define PS_UNWIND_END_H

#include <stdint.h>

#define PS_NO_IMAGE UINT32_MAX

enum ps_end {
	PS_END_NONE,		/* not unwound */
	PS_END_BOTTOM,		/* the outermost frame: it has no return address */
	PS_END_STACK_CUT,	/* needs bytes beyond a full copy */
	PS_END_OTHER_STACK,	/* needs bytes of a stack that was not copied */
	PS_END_NO_MAP,		/* the address is in no executable mapping */
	PS_END_NO_FILE,		/* the image's file is not there */
	PS_END_MISMATCH,	/* the file found is another build */
	PS_END_NO_CFI,		/* no call frame information, and no frame pointer to follow */
	/* the information is damaged, or needs a register that is unknown */
	PS_END_BAD_CFI,
	PS_END_NO_PROGRESS,	/* the caller's frame would not be above this one */
	PS_END_MAX_FRAMES,
};

/* Returns "BOTTOM", ...; "" for PS_END_NONE. Static. */
const char *ps_end_name(enum ps_end end);

#endif
