/* lives.c - when the processes of a recording ran: a process number is used again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

#define NS 1000000000ull
#define START_FIELD 22		/* of /proc/PID/stat, from 1: ticks since the machine's start */
#define NAME_FIELD 2		/* in parentheses, of any characters */

static bool note_task(struct ps_session *s, const struct pd_task *t)
{
	const uint64_t key = (uint64_t)(uint32_t)t->pid + 1;
	const uint64_t start = t->pid == t->tid && t->start != PD_NO_TIME ? t->start : 0;
	struct ps_life *life = pd_map_find(&s->lives, key);

	if (!life) {
		life = pd_arena_alloc(&s->arena, sizeof(*life));
		if (!life || pd_map_add(&s->lives, key, life) < 0)
			return false;
		*life = (struct ps_life){ .start = start, .end = t->end };
		return true;
	}
	life->is_second |= t->pid == t->tid && start != life->start;
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

uint64_t ps_time_in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

uint64_t ps_session_recorded_time(const struct ps_session *s, const struct timespec *wall)
{
	const uint64_t ns = ps_time_in_ns(wall);

	if (!s->has_wall)
		return PD_NO_TIME;
	return ns > s->wall_at_0 ? ns - s->wall_at_0 : 0;
}

/* Reads /proc/PID/stat: sets *ticks to when the process began. */
static bool read_start(struct ps_session *s, int32_t pid, uint64_t *ticks)
{
	struct pd_buf text = { .budget = &s->budget };
	const char *at = NULL;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = s->options.open(s->options.ctx, path, PS_PLACE_RUNNING);
	if (fd < 0)
		return false;
	if (ps_file_read_all(fd, &text) == PS_OK && text.size) {
		pd_buf_append(&text, "", 1);
		at = text.failed ? NULL : strrchr((const char *)text.data, ')');
	}
	for (int field = NAME_FIELD; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	*ticks = at ? strtoull(at + 1, NULL, 10) : 0;
	pd_buf_free(&text);
	close(fd);
	return *ticks != 0;
}

bool ps_session_ran_before(struct ps_session *s, int32_t pid, const struct timespec *wall)
{
	const long per_second = sysconf(_SC_CLK_TCK);
	struct timespec now, running;
	uint64_t ticks, began;

	if ((s->options.recording && !s->is_of_this_machine) || per_second <= 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &running) ||
	    !read_start(s, pid, &ticks))
		return false;
	began = ps_time_in_ns(&now) - ps_time_in_ns(&running) + ticks * (NS / (uint64_t)per_second);
	return began <= ps_time_in_ns(wall) && began / NS <= s->options.began;
}
