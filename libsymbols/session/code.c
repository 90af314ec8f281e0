/* code.c - names of JIT code: from the jitdump or perf-PID.map that the process
 * wrote. */
#include <stdio.h>
#include <string.h>
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

static int open_at(struct ps_session *s, const char *path)
{
	const int fd = s->options.open(s->options.ctx, path, PS_PLACE_TEMPORARY);

	if (fd < 0 || is_of_recording(s, fd))
		return fd;
	close(fd);
	return -1;
}

/* Opens a file that the process wrote: in its root directory, if it still runs, or here. Returns a
 * descriptor, or -1. */
static int open_written(struct ps_session *s, int32_t pid, const char *path)
{
	char inside[PS_PATH_MAX];
	int fd = -1;

	if (snprintf(inside, sizeof(inside), "/proc/%d/root%s", (int)pid, path) <
	    (int)sizeof(inside))
		fd = open_at(s, inside);
	return fd < 0 ? open_at(s, path) : fd;
}

static void read_written(struct ps_session *s, int32_t pid, const char *path, ps_jit_reader *read,
			 struct ps_jit_file *f)
{
	const int fd = open_written(s, pid, path);

	if (fd < 0)
		return;
	f->text.budget = &s->budget;
	if (ps_file_read_all(fd, &f->text) == PS_OK)
		f->is_found = read(&f->code, pd_buf_bytes(&f->text), &s->budget) == PS_OK;
	if (!f->is_found)
		pd_buf_free(&f->text);
	close(fd);
}

/* A JIT compiler that writes a jitdump maps it, so that the recording has its path. */
static bool is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (path[0] != '/' || !name || strncmp(name, "/jit-", 5) != 0)
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && strcmp(name + 5 + digits, ".dump") == 0;
}

/* Makes the map from processes to the images of their jitdumps, on first need. */
static void find_dumps(struct ps_session *s)
{
	const struct pd_image *image;
	struct pd_mapping map;

	if (s->has_dumps)
		return;
	s->has_dumps = true;
	for (size_t i = 0; pd_history_mapping(s->options.history, i, &map); i++) {
		image = pd_history_image(s->options.history, map.image);
		if (image && is_jitdump(image->path))
			pd_map_add(&s->dumps, (uint64_t)(uint32_t)map.pid + 1, (void *)image);
	}
}

static void read_code(struct ps_session *s, int32_t pid, struct ps_process_code *c)
{
	const struct pd_image *dump;
	char path[64];

	find_dumps(s);
	dump = pd_map_find(&s->dumps, (uint64_t)(uint32_t)pid + 1);
	if (dump)
		read_written(s, pid, dump->path, ps_jit_read_jitdump, &c->dump);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	read_written(s, pid, path, ps_jit_read_perf_map, &c->map);
}

struct ps_process_code *ps_session_code(struct ps_session *s, int32_t pid)
{
	const uint64_t key = (uint64_t)(uint32_t)pid + 1;
	struct ps_process_code *c = pd_map_find(&s->processes, key);

	if (!c) {
		c = pd_arena_alloc(&s->arena, sizeof(*c));
		if (!c || pd_map_add(&s->processes, key, c))
			return NULL;
		c->pid = pid;
		c->next = s->first_process;
		s->first_process = c;
		read_code(s, pid, c);
	}
	return c->dump.is_found || c->map.is_found ? c : NULL;
}

static void free_file(struct ps_jit_file *f)
{
	if (!f->is_found)
		return;
	ps_jit_free(&f->code);
	pd_buf_free(&f->text);
}

static void free_code(void *ctx, uint64_t key, void *value)
{
	struct ps_process_code *c = value;

	(void)ctx;
	(void)key;
	free_file(&c->dump);
	free_file(&c->map);
}

void ps_session_unload_code(struct ps_session *s)
{
	pd_map_each(&s->processes, free_code, NULL);
	pd_map_free(&s->processes);
	pd_map_free(&s->dumps);
}
