/* window.h - the buffers that a source reads into. A user that needs the bytes of a window for
 * longer pins it, and the source continues in another. So records need not be copied to be
 * formatted by another thread.
 *
 * A thread reuses the window that it used last, if it can: bytes that another core has just read
 * take it twice the time to overwrite.
 */
#ifndef PD_INPUT_WINDOW_H
#define PD_INPUT_WINDOW_H

#include <pthread.h>

#include "base/buf.h"

struct pd_window {
	uint8_t *data;
	size_t capacity;
	unsigned int pins;	/* changed by any thread, like last_user */
	pthread_t last_user;		/* the thread that read into it, or released it, last */
	struct pd_window *next;	/* in the list of all */
};

struct pd_windows {
	struct pd_budget *budget;
	size_t count;		/* number of windows */
	struct pd_window *now, *all;	/* now: the one that is read into; NULL at first */
};

void pd_windows_free(struct pd_windows *w);

/* Moves n bytes, which may be in the current window, to the start of a window of at least `size`
 * bytes: the same one if it is not pinned. Returns 0 and sets w->now, or -1 without memory. */
int pd_windows_move(struct pd_windows *w, const uint8_t *bytes, size_t n, size_t size);

#define PD_WINDOW_LARGEST (1200u << 10)

/* Returns whether there is memory to pin one window while another is read into, and the largest one
 * would still fit. */
static inline bool pd_windows_may_pin(const struct pd_budget *b)
{
	return b->used + PD_WINDOW_LARGEST <= b->limit / 2;
}

/* Pins the window. Must be called by the thread that reads. `w` may be NULL. */
static inline void pd_window_pin(struct pd_window *w)
{
	if (w)
		__atomic_add_fetch(&w->pins, 1, __ATOMIC_RELAXED);
}

/* Releases a pinned window. May be called by any thread. `w` may be NULL. */
static inline void pd_window_release(struct pd_window *w)
{
	if (!w)
		return;
	__atomic_store_n(&w->last_user, pthread_self(), __ATOMIC_RELAXED);
	__atomic_sub_fetch(&w->pins, 1, __ATOMIC_RELEASE);
}

#endif
