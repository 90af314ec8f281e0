/* thread.c - threads of the library's own. */
#include "base/thread.h"

#include <signal.h>

int pd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}
