/* thread.c - starts the library's threads. */
#include "base/thread.h"

#include <signal.h>

int pd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);	/* for mapped files: it is sent to the thread that reads,
					 * blocked or not */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
