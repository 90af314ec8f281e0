/* sigint.h - the end of a pipeline on SIGINT. */
#ifndef PD_TOOLS_SIGINT_H
#define PD_TOOLS_SIGINT_H

/* A terminal sends SIGINT to the whole pipeline. Ignores the first one if the descriptor `input` is
 * a pipe or a socket, so that the upstream recorder can finish; the second one ends this process,
 * as does the first if there is no upstream. */
void sigint_ignore_first(int input);

#endif
