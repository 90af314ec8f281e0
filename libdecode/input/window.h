/* window.h - the buffers a source reads into. Who needs the bytes of one for longer holds it, and the source goes on in another,
 * so that no record has to be copied to be shown by another thread.
 *
 * A thread reads into the window that it used last itself, where it can: what another core has just looked at takes it twice the
 * time. */
#ifndef PD_INPUT_WINDOW_H
#define PD_INPUT_WINDOW_H

#include <pthread.h>

#include "base/buf.h"

struct pd_window {
	uint8_t *data;
	size_t capacity;
	unsigned int holds;	/* changed by any thread, like `by` */
	pthread_t by;		/* who read into it, or gave it back, last */
	struct pd_window *next;	/* of all */
};

struct pd_windows {
	struct pd_budget *budget;
	size_t count;		/* of all */
	struct pd_window *now, *all;	/* now: what is read into; NULL at first */
};

void pd_windows_free(struct pd_windows *w);

/* Brings n bytes, which may lie in the window that is read into, to the start of one of `size` bytes or more: of the same one where
 * nobody holds it. 0 and w->now, or -1: no memory. */
int pd_windows_move(struct pd_windows *w, const uint8_t *bytes, size_t n, size_t size);

#define PD_WINDOW_LARGEST (1200u << 10)

/* Is there memory to hold one while another is read into? Not where it is so short that the largest would not fit any more. */
static inline bool pd_windows_may_pin(const struct pd_budget *b)
{
	return b->used + PD_WINDOW_LARGEST <= b->limit / 2;
}

/* One that is not read into now, held for the caller; NULL: no memory. */
struct pd_window *pd_windows_acquire(struct pd_windows *w, size_t size);
/* One that was lent is read into now, and its hold given back. */
void pd_windows_use(struct pd_windows *w, struct pd_window *one);

/* By the thread that reads. NULL is fine. */
static inline void pd_window_pin(struct pd_window *w)
{
	if (w)
		__atomic_add_fetch(&w->holds, 1, __ATOMIC_RELAXED);
}

/* By any thread: it has no more business with the bytes. NULL is fine. */
static inline void pd_window_release(struct pd_window *w)
{
	if (!w)
		return;
	__atomic_store_n(&w->by, pthread_self(), __ATOMIC_RELAXED);
	__atomic_sub_fetch(&w->holds, 1, __ATOMIC_RELEASE);
}

#endif
