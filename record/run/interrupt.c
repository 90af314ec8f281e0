/* interrupt.c - the thread that waits for the signals that end a recording. */
#include "run/interrupt.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "process/tool_thread.h"

enum {
	SAME_MS = 200,		/* timeout(1) signals the process, and again its group */
	GRACE_MS = 600,
};

static void wait_for_signal(const struct interrupt *in, siginfo_t *info)
{
	while (sigwaitinfo(&in->set, info) < 0)
		;
}

static void sleep_ms(int64_t ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void *signal_thread(void *arg)
{
	const struct timespec none = { 0, 0 };
	struct interrupt *in = arg;
	siginfo_t second;
	int cancel;

	wait_for_signal(in, &in->first);
	eventfd_write(in->first_fd, 1);
	sleep_ms(SAME_MS);
	while (sigtimedwait(&in->set, &second, &none) > 0)
		;
	wait_for_signal(in, &second);
	__atomic_store_n(&in->hurry, true, __ATOMIC_RELAXED);
	/* stderr is locked meanwhile */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	log_unless_blocked(in->log, LOG_WARNING, "a second signal: ending at once");
	pthread_setcancelstate(cancel, NULL);
	sleep_ms(GRACE_MS);
	in->give_up(in->ctx);
	_exit(128 + second.si_signo);
}

static void add_unless_ignored(sigset_t *set, int number)
{
	struct sigaction before;

	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaddset(set, number);
}

void interrupt_start(struct interrupt *in, const struct logger *s)
{
	sigemptyset(&in->set);
	sigaddset(&in->set, SIGINT);
	sigaddset(&in->set, SIGTERM);
	add_unless_ignored(&in->set, SIGHUP);	/* by nohup(1) */
	add_unless_ignored(&in->set, SIGQUIT);	/* by a shell, for a background job */
	in->log = s;
	in->first_fd = eventfd(0, EFD_CLOEXEC);
	in->threaded = in->first_fd >= 0 &&
		       tool_thread_start(&in->thread, signal_thread, in) == 0;
}

void interrupt_stop(struct interrupt *in)
{
	if (!in->threaded)
		return;
	pthread_cancel(in->thread);
	pthread_join(in->thread, NULL);
	close(in->first_fd);
	in->threaded = false;
}
