/* script_starts.c - how a sample begins: see script_starts.h. */
#include "formats/script_starts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonw.h"

#define NS_IN_S 1000000000u

/* --- task and thread --- */

static void put_comm(struct pp_out *out, const struct pp_line_start *l)
{
	const struct pd_task *task = l->task;
	char unnamed[32];
	size_t size;

	if (!task->comm)
		snprintf(unnamed, sizeof(unnamed), ":%" PRId32, task->tid);
	size = strlen(task->comm ? task->comm : unnamed);
	for (; l->shape == PP_IN_ONE_LINE && size < 16; size++)
		pp_put_text(out, " ");
	pp_put_clean(out, pp_bytes(task->comm ? task->comm : unnamed));
	pp_put_text(out, " ");
}

static void put_ids(struct pp_out *out, const struct pp_line_start *l, enum pp_like like)
{
	const int width = like == PP_LIKE_PERF_6_1 ? 5 : 7;
	const struct pd_fields *sample = l->sample;
	const int32_t id = l->fields & PP_FIELD_PID ? sample->pid : sample->tid;

	if (!(sample->has & PD_HAS_TID) || !(l->fields & (PP_FIELD_PID | PP_FIELD_TID)))
		return;
	if (l->fields & PP_FIELD_PID && l->fields & PP_FIELD_TID)
		pp_printf(out, "%*" PRId32 "/%-*" PRId32 " ", width, sample->pid, width,
			  sample->tid);
	else
		pp_printf(out, "%*" PRId32 " ", width, id);
}

static void make_who(struct pp_out *out, const struct pp_line_start *l, enum pp_like like)
{
	if (l->fields & PP_FIELD_COMM)
		put_comm(out, l);
	put_ids(out, l, like);
}

/* Returns what the text of a thread depends on, but for its name and numbers. */
static uint32_t form_of(const struct pp_line_start *l)
{
	return (l->fields & (PP_FIELD_COMM | PP_FIELD_PID | PP_FIELD_TID)) << 3 |
	       (l->task->comm ? 4u : 0u) | (l->sample->has & PD_HAS_TID ? 2u : 0u) |
	       (l->shape == PP_IN_ONE_LINE);
}

static bool is_kept(const struct pp_who *who, const struct pp_line_start *l)
{
	return who->size && who->form == form_of(l) && who->pid == l->sample->pid &&
	       who->tid == l->sample->tid && who->task_tid == l->task->tid &&
	       strcmp(who->comm, l->task->comm ? l->task->comm : "") == 0;
}

static void put_who(struct pp_line_starts *s, struct pp_out *out, const struct pp_line_start *l)
{
	const char *comm = l->task->comm ? l->task->comm : "";
	struct pp_who *who = &s->who[(uint32_t)l->task->tid % PP_STARTS];
	const char *start = pp_room(out);

	if (is_kept(who, l)) {
		memcpy(pp_room(out), who->text, sizeof(who->text));
		out->used += who->size;
		return;
	}
	make_who(out, l, s->like);
	who->size = 0;
	if (strlen(comm) >= sizeof(who->comm))
		return;
	/* the text fits into the room */
	memcpy(who->comm, comm, strlen(comm) + 1);
	who->task_tid = l->task->tid;
	who->pid = l->sample->pid;
	who->tid = l->sample->tid;
	who->form = form_of(l);
	who->size = (uint32_t)(out->buffer + out->used - start);
	memcpy(who->text, start, who->size);
}

/* --- numbers --- */

/* Writes a number in at least `width` columns. Returns the end. */
static char *write_number(char *at, uint64_t n, size_t width, char pad)
{
	char text[32];

	for (size_t size = (size_t)(pd_write_decimal(text, n) - text); size < width; size++)
		*at++ = pad;
	return pd_write_decimal(at, n);
}

/* Writes n < 10^6 as 6 digits. Returns the end. */
static char *write_six_digits(char *at, uint32_t n)
{
	char text[8];

	pd_write_eight_digits(text, n);
	memcpy(at, text + 2, 6);
	return at + 6;
}

static char *write_time(char *at, uint64_t time, enum pp_times times)
{
	const uint32_t ns = (uint32_t)(time % NS_IN_S);

	at = write_number(at, time / NS_IN_S, 5, ' ');
	*at++ = '.';
	at = write_six_digits(at, ns / 1000);
	if (times == PP_TIMES_NS)
		at = write_number(at, ns % 1000, 3, '0');
	memcpy(at, ": ", 2);
	return at + 2;
}

static char *write_numbers(char *at, const struct pp_line_start *l, enum pp_times times)
{
	const struct pd_fields *sample = l->sample;

	if (sample->has & PD_HAS_CPU && l->fields & PP_FIELD_CPU) {
		*at++ = '[';
		at = write_number(at, sample->cpu, 3, '0');
		memcpy(at, "] ", 2);
		at += 2;
	}
	if (sample->has & PD_HAS_TIME && l->fields & PP_FIELD_TIME)
		at = write_time(at, sample->time, times);
	if (l->fields & PP_FIELD_PERIOD) {
		at = write_number(at, l->weight, 10, ' ');
		*at++ = ' ';
	}
	return at;
}

/* --- the event --- */

static void find_widest(struct pp_line_starts *s, const struct pd_reader *r)
{
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		const int size = (int)strlen(pd_attr_name(pd_reader_attr(r, i)));

		if (size > s->widest)
			s->widest = size;
	}
}

static void make_event(struct pp_line_starts *s, struct pp_out *out, const struct pd_reader *r,
		       const char *name)
{
	if (!s->widest)
		find_widest(s, r);
	for (int size = (int)strlen(name); size < s->widest; size++)
		pp_put_text(out, " ");
	pp_put_clean(out, pp_bytes(name));
	pp_put_text(out, ": ");
}

static void put_event(struct pp_line_starts *s, struct pp_out *out, const struct pd_reader *r,
		      const struct pp_counted_event *event)
{
	const size_t number = (size_t)(event - out->p->events);
	const char *name = event->weigher.name, *start = pp_room(out);

	if (s->event.size && s->event.number == number) {
		memcpy(pp_room(out), s->event.text, sizeof(s->event.text));
		out->used += s->event.size;
		return;
	}
	make_event(s, out, r, name);
	s->event.size = 0;
	if (strlen(name) + 2 > PP_STARTS_TEXT || (size_t)s->widest + 2 > PP_STARTS_TEXT)
		return;
	s->event.number = number;
	s->event.size = (size_t)(out->buffer + out->used - start);
	memcpy(s->event.text, start, s->event.size);
}

void pp_put_line_start(struct pp_line_starts *s, struct pp_out *out, const struct pd_reader *r,
		       const struct pp_line_start *l)
{
	put_who(s, out, l);
	pp_wrote(out, write_numbers(pp_room(out), l, s->times));
	if (l->fields & PP_FIELD_EVENT)
		put_event(s, out, r, l->event);
}
