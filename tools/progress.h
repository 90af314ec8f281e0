/* progress.h - a line on stderr that shows how far the work is.
 *
 * It appears only where stderr is a terminal and the work passes a second, and is gone at the end.
 * Zeroed is a valid state: nothing is shown.  Clear it before printing anything else on stderr. */
#ifndef PD_TOOLS_PROGRESS_H
#define PD_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROGRESS_STEP = 4096,	/* bytes between two looks at the clock */
};

struct progress {
	bool on;
	size_t width;		/* columns that the line on screen takes, 0: there is none */
	uint64_t total;		/* bytes, 0: unknown */
	uint64_t next;		/* bytes done at which the clock is read again */
	uint64_t started, drawn; /* ns */
};

/* Don't call it when the output itself goes to the terminal. */
void progress_start(struct progress *p, uint64_t total);

void progress_draw(struct progress *p, uint64_t done);

/* done is the position in the input, in bytes.  Cheap enough to call for each record. */
static inline void progress_update(struct progress *p, uint64_t done)
{
	if (p->on && done >= p->next)
		progress_draw(p, done);
}

/* Takes the line off the screen; the next update may bring it back. */
void progress_clear(struct progress *p);

/* Takes it off for good. */
void progress_end(struct progress *p);

#endif
