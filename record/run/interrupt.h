/* interrupt.h - SIGINT, SIGQUIT, SIGTERM and SIGHUP: the first signal ends the recording, the
 * second the recorder.
 *
 * A thread waits for the signals, as the main thread may be blocked. After the second signal the
 * remaining metadata is left out; if the recorder is stuck in the kernel and still does not end,
 * the thread ends it, and does before what must not be left out.
 */
#ifndef RECORD_INTERRUPT_H
#define RECORD_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/log.h"

struct interrupt {
	sigset_t set;
	bool threaded;			/* false: no thread started, the signals stay pending */
	pthread_t thread;
	int first_fd;			/* an eventfd, readable after the first signal; -1: none */
	siginfo_t first;		/* valid once first_fd is readable */
	bool hurry;			/* atomic: set by the second signal */
	const struct logger *log;
	void (*give_up)(void *ctx);	/* called before the thread ends the recorder */
	void *ctx;
};

/* The signals must be blocked in every other thread. The thread uses *in until interrupt_stop(), of
 * which the caller sets give_up and ctx. */
void interrupt_start(struct interrupt *in, const struct logger *s);

/* Ends the thread; nothing where none was started. Signals after it stay pending. */
void interrupt_stop(struct interrupt *in);

#endif
