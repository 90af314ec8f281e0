/* thread.c - threads of the library's own. */
#include "base/thread.h"

#include <signal.h>

int pd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);	/* of a mapped file: it comes to the thread that reads it, blocked or not */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}
