/* window.c - the buffers that a source reads into: see window.h. */
#include "input/window.h"

#include <string.h>

#define KEPT 8	/* windows to keep while memory allows, so that a thread need not read into one that
		 * another core has just used */

static void free_window(struct pd_windows *w, struct pd_window *one)
{
	pd_budget_free(w->budget, one->data, one->capacity);
	pd_budget_free(w->budget, one, sizeof(*one));
}

void pd_windows_free(struct pd_windows *w)
{
	while (w->all) {
		struct pd_window *one = w->all;

		w->all = one->next;
		free_window(w, one);
	}
	w->now = NULL;
}

static struct pd_window *new_window(struct pd_windows *w, size_t size)
{
	struct pd_window *one = pd_budget_alloc(w->budget, sizeof(*one));

	if (!one)
		return NULL;
	*one = (struct pd_window){ .data = pd_budget_alloc(w->budget, size), .capacity = size,
		.next = w->all };
	if (!one->data) {
		pd_budget_free(w->budget, one, sizeof(*one));
		return NULL;
	}
	w->count++;
	return w->all = one;
}

/* Moves the window to the end of the list, which is in the order of use. */
static void move_last(struct pd_windows *w, struct pd_window *one)
{
	struct pd_window **at = &w->all;

	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	while (*at)
		at = &(*at)->next;
	*at = one;
	one->next = NULL;
}

static bool is_pinned(const struct pd_window *one)
{
	return __atomic_load_n(&one->pins, __ATOMIC_ACQUIRE);
}

static bool is_usable(const struct pd_window *one, size_t size)
{
	return one->capacity >= size && !is_pinned(one);
}

/* Finds a usable window that this thread used last. */
static struct pd_window *find_own(struct pd_windows *w, size_t size)
{
	for (struct pd_window *one = w->all; one; one = one->next)
		if (is_usable(one, size) &&
		    pthread_equal(__atomic_load_n(&one->last_user, __ATOMIC_RELAXED),
				  pthread_self()))
			return one;
	return NULL;
}

/* Finds the usable window that is out of use longest. Frees windows that are too small. */
static struct pd_window *find_free(struct pd_windows *w, size_t size)
{
	for (struct pd_window **at = &w->all; *at;) {
		struct pd_window *one = *at;

		if (is_usable(one, size))
			return one;
		if (is_pinned(one) || one == w->now) {
			at = &one->next;
		} else {
			*at = one->next;
			free_window(w, one);
			w->count--;
		}
	}
	return NULL;
}

/* Returns whether to allocate a window more than necessary, because memory is not short. */
static bool may_allocate(const struct pd_windows *w)
{
	return w->now && is_pinned(w->now) && w->count < KEPT && pd_windows_may_pin(w->budget);
}

/* Avoids windows that another core has just used, if possible. */
static struct pd_window *find_or_allocate(struct pd_windows *w, size_t size)
{
	struct pd_window *one = find_own(w, size);

	if (!one && may_allocate(w))
		one = new_window(w, size);
	if (!one)
		one = find_free(w, size);
	return one ? one : new_window(w, size);
}

int pd_windows_move(struct pd_windows *w, const uint8_t *bytes, size_t n, size_t size)
{
	struct pd_window *to = find_or_allocate(w, size);

	if (!to)
		return -1;
	move_last(w, to);
	__atomic_store_n(&to->last_user, pthread_self(), __ATOMIC_RELAXED);
	if (n)
		memmove(to->data, bytes, n);
	w->now = to;
	return 0;
}
