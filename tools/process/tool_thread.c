/* tool_thread.c - see tool_thread.h. */
#include "process/tool_thread.h"

#include <signal.h>

int tool_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);	/* of a mapped file that shrinks: where it is blocked, it
					 * ends the process, handled or not */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
