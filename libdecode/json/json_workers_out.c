/* json_workers_out.c - the team's output: blocks become text, which goes out in their order. */
#include "json/json_internal.h"

/* One for a block that was just taken: there are enough. */
static struct pd_json_sheet *take_sheet(struct pd_json_team *t, const struct pd_json_worker *w)
{
	struct pd_json_sheet *best = &t->sheets[0];

	for (size_t i = 0; i < t->nr_places; i++) {
		struct pd_json_sheet *s = &t->sheets[i];

		if (!s->taken && (best->taken || s->writer == w || (!s->writer && best->writer != w)))
			best = s;
	}
	best->taken = true;
	best->writer = w;
	return best;
}

/* Hands a block's text to the output: 0, or what that returned. */
static int put_text(struct pd_json_team *t, const struct pd_json_block *b)
{
	const struct pd_output *out = &t->main->w.out;

	if (t->failed || b->failed)
		return t->failed ? t->failed : -1;
	return b->sheet->size ? out->write(out->ctx, b->sheet->text + 1, b->sheet->size) : 0;
}

/* Says what was wrong in a block. */
static void report_missing(struct pd_json_team *t, const struct pd_json_block *b)
{
	struct pd_json *j = t->main;

	t->reporting = true;
	j->error_is_written = j->options.shape == PD_JSON_LINES;
	for (size_t i = 0; i < b->nr_missing; i++)
		pd_json_report_missing(j, b->missing[i].offset, b->missing[i].want, b->missing[i].have, b->missing[i].file);
	j->error_is_written = false;
	t->reporting = false;
}

/* The oldest block goes out. Where something was wrong with it, nothing is read while that is said. */
static void put_oldest(struct pd_json_team *t)
{
	struct pd_json_place *p = &t->ring[t->oldest];
	struct pd_json_sheet *sheet = p->block->sheet;
	const bool has_missing = p->block->nr_missing;
	int failed;

	t->leading |= has_missing;
	pthread_mutex_unlock(&t->lock);
	failed = put_text(t, p->block);
	if (has_missing)
		report_missing(t, p->block);
	pthread_mutex_lock(&t->lock);
	t->leading &= !has_missing;
	t->failed = failed;
	if (sheet->size)
		t->last = sheet->text[sheet->size];
	sheet->taken = false;
	p->state = PD_JSON_FREE;
	t->oldest = (t->oldest + 1) % t->nr_places;
}

void pd_json_team_put(struct pd_json_team *t, const struct pd_json_worker *w)
{
	const bool is_caller = w == &t->workers[0];

	if (t->putting)
		return;
	t->putting = true;
	while (t->ring[t->oldest].state == PD_JSON_DONE) {
		if (t->ring[t->oldest].block->nr_missing && (!is_caller || t->leading))
			break;
		put_oldest(t);
		pd_json_team_changed(t);
	}
	t->putting = false;
}

/* A block that is being written, and who is at it. */
struct turn {
	struct pd_json_worker *worker;
	const struct pd_json_place *place;
};

/* Text of a block that is not done: goes out when all before it has. */
static int write_in_turn(void *ctx, const void *p, size_t n)
{
	const struct turn *turn = ctx;
	struct pd_json_team *t = turn->worker->team;
	const struct pd_output *out = &t->main->w.out;
	int failed;

	pthread_mutex_lock(&t->lock);
	pd_json_team_put(t, turn->worker);
	while (&t->ring[t->oldest] != turn->place || t->putting) {
		pthread_cond_wait(&t->done, &t->lock);
		pd_json_team_put(t, turn->worker);
	}
	failed = t->failed;
	t->putting = true;
	pthread_mutex_unlock(&t->lock);
	if (!failed)
		failed = out->write(out->ctx, p, n);
	pthread_mutex_lock(&t->lock);
	t->failed = failed;
	t->last = ((const char *)p)[n - 1];
	t->putting = false;
	pthread_mutex_unlock(&t->lock);
	return failed;
}

void pd_json_team_write(struct pd_json_team *t, struct pd_json_worker *w, struct pd_json_place *p)
{
	struct pd_json_sheet *sheet = take_sheet(t, w);
	struct turn turn = { w, p };

	pthread_mutex_unlock(&t->lock);
	pd_json_block_write(p->block, sheet, &w->j, (struct pd_output){ write_in_turn, &turn });
	pthread_mutex_lock(&t->lock);
	p->state = PD_JSON_DONE;
	pd_json_team_put(t, w);
	pd_json_team_changed(t);
}

int pd_json_team_catch_up(struct pd_json_team *t)
{
	struct pd_jsonw *w = &t->main->w;

	if (t->failed && !w->failed)
		w->failed = t->failed;
	if (t->last)
		w->at[-1] = t->last;
	t->last = '\0';
	return w->failed;
}
