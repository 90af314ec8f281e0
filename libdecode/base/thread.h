/* thread.h - threads of the library's own. */
#ifndef PD_BASE_THREAD_H
#define PD_BASE_THREAD_H

#include <pthread.h>

/* Signals stay with the caller's threads. 0, or an errno. */
int pd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* The other side is soon done: going to sleep and being woken takes longer than a look now and then. */
static inline void pd_thread_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
