/* debug_info.c - opens debug information: at once, or in a thread of the session while those of the
 * caller unwind, which need none of it. Expanding compressed sections takes longest. */
#include "base/thread.h"
#include "session/session.h"

static bool has_debug_info(const struct ps_elf *e)
{
	const struct ps_section *s = e->elf ? ps_debug_section(e, "info") : NULL;

	return s && s->header.sh_type != SHT_NOBITS;
}

struct ps_elf *ps_session_debug_file(struct ps_loaded *l)
{
	return has_debug_info(&l->binary.image) ? &l->binary.image :
	       has_debug_info(&l->binary.debug) ? &l->binary.debug : NULL;
}

void ps_session_open_debug(struct ps_session *s, struct ps_loaded *l)
{
	const struct ps_split_finder finder = l->debug.finder;
	const enum ps_status status = ps_debug_open(&l->debug, ps_session_debug_file(l),
						    l->alt.elf ? &l->alt : NULL,
						    ps_session_depth(s), &s->budget);

	l->has_debug = status == PS_OK;
	l->lacks_memory = status == PS_OVER_LIMIT;
	if (l->has_debug)
		l->debug.finder = finder;
	if (status == PS_BAD_FILE || (l->has_debug && l->debug.is_partial))
		l->lacks[PS_LACK_READABLE] =
			ps_session_debug_file(l) == &l->binary.image ? l->path : l->debug_path;
}

/* --- in the background --- */

/* Opens the debug information of the first image that waits. The lock is held, but not while that
 * takes time. */
static void open_next(struct ps_session *s)
{
	struct ps_background *b = &s->background;
	struct ps_loaded *l = b->first;

	b->first = l->next_waiting;
	l->opening = PS_OPENING;
	pthread_mutex_unlock(&s->lock);
	ps_session_open_debug(s, l);
	pthread_mutex_lock(&s->lock);
	l->opening = PS_SETTLED;
	pthread_cond_broadcast(&b->changed);
}

static void *open_all(void *ctx)
{
	struct ps_session *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->background.is_over) {
		if (s->background.first)
			open_next(s);
		else
			pthread_cond_wait(&s->background.changed, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void ps_session_open_later(struct ps_session *s, struct ps_loaded *l)
{
	struct ps_background *b = &s->background;

	if (!b->is_started)
		b->is_started = pd_thread_start(&b->thread, open_all, s) == 0;
	if (!b->is_started) {
		ps_session_open_debug(s, l);
		return;
	}
	l->opening = PS_WAITING;
	l->next_waiting = b->first;
	b->first = l;
	pthread_cond_broadcast(&b->changed);
}

static void forget_waiting(struct ps_background *b, const struct ps_loaded *l)
{
	struct ps_loaded **at = &b->first;

	while (*at != l)
		at = &(*at)->next_waiting;
	*at = l->next_waiting;
}

bool ps_session_has_debug(struct ps_session *s, struct ps_loaded *l)
{
	if (l->opening == PS_WAITING) {
		forget_waiting(&s->background, l);
		l->opening = PS_SETTLED;
		ps_session_open_debug(s, l);
	}
	while (l->opening == PS_OPENING)
		pthread_cond_wait(&s->background.changed, &s->lock);
	return l->has_debug;
}

void ps_session_end_background(struct ps_session *s)
{
	struct ps_background *b = &s->background;

	pthread_mutex_lock(&s->lock);
	b->is_over = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&s->lock);
	if (b->is_started)
		pthread_join(b->thread, NULL);
	pthread_cond_destroy(&b->changed);
}
