/* lives.c - when the processes of a recording ran: a process number is used again. */
#include "session/session.h"

static bool note_task(struct ps_session *s, const struct pd_task *t)
{
	const uint64_t key = (uint64_t)(uint32_t)t->pid + 1;
	const uint64_t start = t->pid == t->tid && t->start != PD_NO_TIME ? t->start : 0;
	struct ps_life *life = pd_map_find(&s->lives, key);

	if (!life) {
		life = pd_arena_alloc(&s->arena, sizeof(*life));
		if (!life || pd_map_add(&s->lives, key, life) < 0)
			return false;
		*life = (struct ps_life){ start, t->end };
		return true;
	}
	if (start > life->start)
		life->start = start;
	if (t->end > life->end)		/* PD_NO_TIME is the largest */
		life->end = t->end;
	return true;
}

const struct ps_life *ps_session_life(struct ps_session *s, int32_t pid)
{
	const size_t n = pd_history_nr_tasks(s->options.history);
	struct pd_task t;

	for (size_t i = 0; !s->has_lives && i < n; i++)
		if (pd_history_task_at(s->options.history, i, &t) && !t.machine_pid &&
		    !note_task(s, &t))
			break;
	s->has_lives = true;
	return pd_map_find(&s->lives, (uint64_t)(uint32_t)pid + 1);
}

uint64_t ps_session_recorded_time(const struct ps_session *s, const struct timespec *wall)
{
	const uint64_t ns = (uint64_t)wall->tv_sec * 1000000000 + (uint64_t)wall->tv_nsec;

	if (!s->has_wall)
		return PD_NO_TIME;
	return ns > s->wall_at_0 ? ns - s->wall_at_0 : 0;
}
