/* progress.h - a line on stderr that shows the progress.
 *
 * It appears only if stderr is a terminal and the work takes more than a second; it is removed at
 * the end. A zeroed struct shows nothing. Clear it before printing anything else on stderr.
 */
#ifndef PD_TOOLS_PROGRESS_H
#define PD_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROGRESS_STEP = 4096,	/* bytes between two readings of the clock */
};

struct progress {
	bool on;
	size_t width;		/* columns of the line on screen, 0: none */
	uint64_t total;		/* bytes, 0: unknown */
	uint64_t next;		/* bytes done at which the clock is read again */
	uint64_t started, drawn; /* ns */
};

/* Must not be called when the output itself goes to the terminal. */
void progress_start(struct progress *p, uint64_t total);

void progress_draw(struct progress *p, uint64_t done);

/* done: position in the input, in bytes. Cheap enough to call for each record. */
static inline void progress_update(struct progress *p, uint64_t done)
{
	if (p->on && done >= p->next)
		progress_draw(p, done);
}

/* Removes the line from the screen; the next update may draw it again. */
void progress_clear(struct progress *p);

/* Removes the line and stops drawing. */
void progress_end(struct progress *p);

#endif
