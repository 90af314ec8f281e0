/* thread.h - starts the library's threads. */
#ifndef PD_BASE_THREAD_H
#define PD_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that blocks signals, so that the caller's threads get them. Returns 0, or an
 * errno. */
int pd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* For short spins, when the other thread is nearly done: sleeping and waking up would take
 * longer. */
static inline void pd_thread_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
