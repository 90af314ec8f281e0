/* tool_thread.h - starts the threads of the tools. */
#ifndef PD_TOOLS_TOOL_THREAD_H
#define PD_TOOLS_TOOL_THREAD_H

#include <pthread.h>

/* Starts a thread that blocks signals, so that the tool's first thread gets them. Returns 0, or an
 * errno. */
int tool_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
