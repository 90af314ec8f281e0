/* code.c - names of JIT code: from the perf-PID.map that the process wrote. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

/* A process number is used again: the file must have been written in this recording or after it. */
static bool is_of_recording(const struct ps_session *s, int fd)
{
	struct stat st;

	return s->options.began && !fstat(fd, &st) &&
	       (uint64_t)st.st_mtime + 1 >= s->options.began;
}

static void read_perf_map(struct ps_session *s, int32_t pid, struct ps_process_code *c)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	fd = s->options.open(s->options.ctx, path, PS_PLACE_TEMPORARY);
	if (fd < 0)
		return;
	c->text.budget = &s->budget;
	if (is_of_recording(s, fd) && ps_file_read_all(fd, &c->text) == PS_OK)
		c->is_found = ps_jit_read_perf_map(&c->code, pd_buf_bytes(&c->text), &s->budget) ==
			      PS_OK;
	if (!c->is_found)
		pd_buf_free(&c->text);
	close(fd);
}

const struct ps_jit_code *ps_session_code(struct ps_session *s, int32_t pid)
{
	const uint64_t key = (uint64_t)(uint32_t)pid + 1;
	struct ps_process_code *c = pd_map_find(&s->processes, key);

	if (!c) {
		c = pd_arena_alloc(&s->arena, sizeof(*c));
		if (!c || pd_map_add(&s->processes, key, c))
			return NULL;
		read_perf_map(s, pid, c);
	}
	return c->is_found ? &c->code : NULL;
}

static void free_code(void *ctx, uint64_t key, void *value)
{
	struct ps_process_code *c = value;

	(void)ctx;
	(void)key;
	if (!c->is_found)
		return;
	ps_jit_free(&c->code);
	pd_buf_free(&c->text);
}

void ps_session_unload_code(struct ps_session *s)
{
	pd_map_each(&s->processes, free_code, NULL);
	pd_map_free(&s->processes);
}
