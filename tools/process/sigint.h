/* sigint.h - SIGINT: the end of a pipeline, or of what a prompt runs. */
#ifndef PD_TOOLS_SIGINT_H
#define PD_TOOLS_SIGINT_H

#include <stdbool.h>

/* A terminal sends SIGINT to the whole pipeline. Ignores the first one if the descriptor `input` is
 * a pipe or a socket, so that the upstream recorder can finish; the second one ends this process,
 * as does the first if there is no upstream. */
void sigint_ignore_first(int input);

/* From now on SIGINT does not end this process: it is noted, and a read that waits fails with
 * EINTR. */
void sigint_note(void);

/* Returns whether one was noted since the last sigint_clear(). */
bool sigint_is_noted(void);
void sigint_clear(void);

#endif
