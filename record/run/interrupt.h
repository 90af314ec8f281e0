/* interrupt.h - SIGINT, SIGTERM and SIGHUP: the first ends the recording, the second everything.
 *
 * A thread waits for them, so that they are seen whatever the main thread does. After a second signal what is not
 * described yet is left out; if the recorder then still does not end, since the kernel holds it, the thread ends it.
 */
#ifndef RECORD_INTERRUPT_H
#define RECORD_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/log.h"

struct interrupt {
	sigset_t set;
	bool threaded;			/* false: no thread could be had, the signals stay pending */
	pthread_t thread;
	int alarm;			/* readable once the first came; -1: none */
	siginfo_t first;		/* valid once `alarm` is readable */
	bool hurry;			/* atomic: a second one came */
	const struct logger *log;
};

/* The signals must be blocked already, or blocked again in every other thread. */
void interrupt_start(struct interrupt *in, const struct logger *s);

#endif
