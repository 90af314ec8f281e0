/* json_workers_in.c - the team's input: one thread after the other leads, that is, asks the reader for runs.
 *
 * Where much of the time goes into reading, that is done side by side as well: who can't lead yet reads what comes behind all that
 * others read, and leads when it is wanted. So bytes come from the file, become records and become JSON on one core.
 */
#include <time.h>

#include "json/json_internal.h"

#define RUN_ON 100000000	/* ns, after which the caller shows how far it is: until then nobody waits for all to be done */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void pd_json_team_open(struct pd_json_team *t)
{
	t->open = true;
	t->run_until = now() + RUN_ON;
	t->status = 0;
	t->wants = false;
	pd_json_team_changed(t);
}

/* Whose it is to bring what is wanted; NULL: nobody's yet. */
static struct pd_json_worker *bringer(struct pd_json_team *t)
{
	for (size_t i = 0; i < t->nr_workers; i++)
		if (pd_json_worker_has_wanted(t, &t->workers[i]))
			return &t->workers[i];
	return NULL;
}

/* Best is who has read what is wanted. But he may sleep, and then nobody waits until he is awake. */
static bool may_lead(struct pd_json_team *t)
{
	const struct pd_json_worker *b = t->wants ? bringer(t) : NULL;

	return t->open && !t->leading && t->oldest != (t->filling + 1) % t->nr_places && !(b && b->reading);
}

static enum pd_json_filled fill_with_runs(struct pd_json_team *t, struct pd_json_block *b)
{
	struct pd_batch *batch;

	while (!(t->status = pd_json_next_batch(t->main, &batch)) && batch) {
		if (batch->next == batch->count)	/* a filter's */
			continue;
		pd_json_block_add_batch(b, batch, t->main->reader);
		pd_json_team_note_first(t);
		if (batch->next < batch->count)
			return PD_JSON_FULL;
	}
	return t->status ? PD_JSON_FAILED : PD_JSON_ENDED;
}

/* The record that ended a run, if that is all there is to it. */
static enum pd_json_filled fill_with_one(struct pd_json_team *t, struct pd_json_block *b)
{
	const struct pd_record *r = pd_reader_peek(t->main->reader);
	int kept;

	if (!r)
		return PD_JSON_ENDED;
	if (!pd_json_block_fits(b, pd_record_bytes(r).size))
		return PD_JSON_FULL;
	pd_reader_take(t->main->reader);
	kept = pd_json_keeps(t->main, r);
	if (kept > 0) {
		kept = pd_json_block_add(b, r);
		pd_json_team_note_first(t);
	}
	if (kept < 0)
		t->status = kept;
	return kept < 0 ? PD_JSON_FAILED : PD_JSON_MORE;
}

enum pd_json_filled pd_json_team_fill(struct pd_json_team *t, struct pd_json_block *b)
{
	enum pd_json_filled filled;

	do {
		filled = fill_with_runs(t, b);
		if (filled == PD_JSON_ENDED)
			filled = fill_with_one(t, b);
	} while (filled == PD_JSON_MORE);
	return filled;
}

/* Takes from whoever has it what is wanted. */
static struct pd_read_ahead take_wanted(struct pd_json_team *t)
{
	struct pd_json_worker *b = t->wants ? bringer(t) : NULL;
	struct pd_read_ahead taken = { NULL, 0, 0 };

	if (!b)
		return taken;
	taken = b->ahead;
	b->ahead.window = NULL;
	b->claims = false;
	return taken;
}

/* What comes next for all. By who leads. */
static void note_wants(struct pd_json_team *t)
{
	t->wants = pd_reader_needs_input(t->main->reader, &t->wanted_at);
	if (t->wants && t->claimed < t->wanted_at)
		t->claimed = t->wanted_at;
}

static bool lend(struct pd_json_team *t, struct pd_json_worker *w)
{
	if (w->ahead.window)
		return false;
	w->source = pd_reader_start_read_ahead(t->main->reader, &w->ahead);
	return true;
}

/* Who leads needs a window for the next time, and another his first one: else he comes too late whenever he looks. */
static void lend_windows(struct pd_json_team *t, struct pd_json_worker *w)
{
	lend(t, w);
	for (size_t i = 0; i < t->nr_workers; i++)
		if (lend(t, &t->workers[i]))
			break;
}

/* False: who leads can't go on, but pd_reader_next() may. */
static bool lead(struct pd_json_team *t, struct pd_json_worker *w, struct pd_json_place **p)
{
	struct pd_json_place *place = &t->ring[t->filling];
	struct pd_read_ahead ahead = take_wanted(t);
	enum pd_json_filled filled = PD_JSON_FAILED;
	bool goes_on;

	t->leading = true;
	pthread_mutex_unlock(&t->lock);
	if (!t->wants || pd_reader_read_on(t->main->reader, &ahead))
		filled = pd_json_team_fill(t, place->block);
	pd_jsonw_flush(&t->main->w);	/* goes out before; if there is something, no thread is at work */
	pthread_mutex_lock(&t->lock);
	note_wants(t);
	lend_windows(t, w);
	goes_on = (filled == PD_JSON_FULL || (filled == PD_JSON_ENDED && t->wants && now() < t->run_until)) && !t->failed;
	if (filled == PD_JSON_FULL || (goes_on && !pd_json_block_is_empty(place->block))) {
		pd_json_team_go_on(t, PD_JSON_TAKEN);
		*p = place;
	}
	t->open = goes_on;
	t->leading = false;
	pd_json_team_changed(t);
	return goes_on;
}

static void read_ahead(struct pd_json_team *t, struct pd_json_worker *w)
{
	w->claims = w->reading = true;
	w->ahead.at = t->claimed;
	t->claimed += PD_READ_AHEAD;
	pthread_mutex_unlock(&t->lock);
	pd_source_read_ahead(w->source, &w->ahead);
	pthread_mutex_lock(&t->lock);
	w->reading = false;
	pthread_cond_broadcast(&t->done);
}

bool pd_json_team_read(struct pd_json_team *t, struct pd_json_worker *w, struct pd_json_place **p)
{
	if (w->claims && w->ahead.at < t->wanted_at)	/* somebody else has brought that */
		w->claims = false;
	if (t->open && w->ahead.window && !w->claims && (t->wants || t->leading)) {
		read_ahead(t, w);
		return true;
	}
	if (!may_lead(t))
		return false;
	return lead(t, w, p);
}

void pd_json_team_stop_reading(struct pd_json_team *t)
{
	for (size_t i = 0; i < t->nr_workers; i++) {
		struct pd_json_worker *w = &t->workers[i];

		while (w->reading)
			pthread_cond_wait(&t->done, &t->lock);
		pd_window_release(w->ahead.window);
		w->ahead.window = NULL;
		w->claims = false;
	}
	t->claimed = t->wanted_at = 0;
}
