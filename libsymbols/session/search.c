/* search.c - opens the candidates for a file until one is the right one. */
#include <string.h>
#include <unistd.h>

#include "session/session.h"

enum { AT_ONCE = 32, TEXT = 4 * PS_PATH_MAX };

/* Candidates for which the caller is asked at once. */
struct batch {
	struct ps_candidate items[AT_ONCE];
	size_t n, used;
	char text[TEXT];
};

static void add_candidate(struct batch *b, const struct ps_candidate *c)
{
	const size_t n = strlen(c->path) + 1;

	memcpy(b->text + b->used, c->path, n);
	b->items[b->n++] = (struct ps_candidate){ b->text + b->used, c->place };
	b->used += n;
}

/* Returns whether there are any. */
static bool fill_batch(struct batch *b, struct ps_candidates *all)
{
	struct ps_candidate c;

	b->n = b->used = 0;
	while (b->n < AT_ONCE && TEXT - b->used >= PS_PATH_MAX && ps_candidates_next(all, &c))
		add_candidate(b, &c);
	return b->n > 0;
}

/* Opens one of the candidates from *at on, and sets *at to it. Returns a descriptor, or -1. */
static int open_one(const struct ps_options *o, const struct batch *b, size_t *at)
{
	size_t which = 0;
	int fd = -1;

	if (o->open_first) {
		fd = o->open_first(o->ctx, b->items + *at, b->n - *at, &which);
		if (fd >= 0 && which >= b->n - *at) {
			close(fd);
			return -1;
		}
		*at += which;
		return fd;
	}
	for (; *at < b->n; ++*at) {
		fd = o->open(o->ctx, b->items[*at].path, b->items[*at].place);
		if (fd >= 0)
			break;
	}
	return fd;
}

/* Returns whether the search is over. */
static bool search_batch(struct ps_search *search, const struct batch *b)
{
	bool is_over;

	for (size_t at = 0; at < b->n; at++) {
		const int fd = open_one(&search->session->options, b, &at);

		if (fd < 0)
			return false;
		is_over = search->use(search, fd, &b->items[at]);
		close(fd);
		if (is_over)
			return true;
	}
	return false;
}

bool ps_session_search(struct ps_search *search)
{
	struct ps_candidates all = { .places = &search->session->places, .what = &search->what };
	struct batch b;

	while (fill_batch(&b, &all))
		if (search_batch(search, &b))
			return true;
	return false;
}
