/* code.c - names of JIT code: from the jitdump or perf-PID.map that the process
 * wrote. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

#define CLOCKS_DIFFER 1000000000	/* ns, at most: wall time is adjusted in the meantime */

#define MOMENTS_DIFFER 1000000		/* ns, at most: both clocks can't be read at once */
#define MAP_PATH 32
#define CLOCK_DRIFT 500000		/* ns in a second, at most: NTP changes the rate of one */

/* A process number is used again: the file must not have been written before the process began, nor
 * after it ended. One that still ran may have gone on writing. A recording that does not state the
 * time of day can't tell. */
static bool is_of_process(struct ps_session *s, const struct ps_process_code *c, int fd,
			  struct ps_jit_file *f)
{
	const struct ps_life *life = c->life;
	struct stat st;

	f->is_unverified = !s->options.began;
	if (f->is_unverified)
		f->written = PD_NO_TIME;
	if (f->is_unverified || fstat(fd, &st))
		return f->is_unverified && s->options.unverified == PS_UNVERIFIED_ALWAYS;
	if ((uint64_t)st.st_mtime + 1 < s->options.began &&
	    !ps_session_ran_before(s, c->pid, &st.st_mtim))
		return false;
	f->written = ps_session_recorded_time(s, &st.st_mtim);
	return !life || life->end == PD_NO_TIME || f->written == PD_NO_TIME ||
	       f->written <= life->end + CLOCKS_DIFFER;
}

bool ps_session_is_file_of(const struct ps_process_code *c, const struct ps_jit_file *f,
			   const struct pd_location *l)
{
	const struct ps_life *life = c->life;

	if (!f->is_found || !life)
		return f->is_found;
	return (f->written >= life->start || life->start - f->written <= CLOCKS_DIFFER) ==
	       (l->time >= life->start);
}

struct ps_jit_time ps_session_time_in_dump(const struct ps_session *s,
					   const struct ps_process_code *c,
					   const struct pd_location *l)
{
	const struct ps_options *o = &s->options;
	uint64_t time, margin;

	if (!c->dump.code.has_clock || l->time == PD_NO_TIME)
		return PS_JIT_ANY_TIME;
	if (o->clock == PS_CLOCK_MONOTONIC)
		return (struct ps_jit_time){ l->time, l->time };
	if (!o->moment_monotonic || o->ended < o->began)
		return PS_JIT_ANY_TIME;
	time = o->moment_monotonic - o->moment + l->time;
	margin = MOMENTS_DIFFER + (o->ended - o->began) * CLOCK_DRIFT;
	return (struct ps_jit_time){ time > margin ? time - margin : 1, time + margin };
}

static uint64_t since_in_dump(const struct ps_session *s, struct ps_process_code *c,
			      const struct pd_location *l)
{
	const struct ps_jit_time when = ps_session_time_in_dump(s, c, l);
	const struct ps_jit_time early = { when.earliest, when.earliest };
	const uint64_t margin = (when.latest - when.earliest) / 2;
	const uint64_t address = ps_lookup_of(l, l->addr);
	const struct ps_jit_range *r;
	uint64_t since;

	if (!when.earliest ||
	    ps_jit_find_range(&c->dump.code, address, when, &r) == PS_JIT_NOTHING)
		return 0;
	since = r->from > margin ? r->from - margin : 0;
	if (ps_jit_find_range(&c->dump.code, address, early, &r) != PS_JIT_NOTHING &&
	    since < r->from + margin)
		since = r->from + margin;
	since += l->time - (when.latest - margin);
	return since && since <= l->time ? since : 1;
}

uint64_t ps_session_code_since(const struct ps_session *s, struct ps_process_code *c,
			       const struct pd_location *l)
{
	const struct ps_life *life = c->life;
	const uint64_t since = ps_session_is_file_of(c, &c->dump, l) ? since_in_dump(s, c, l) : 0;
	const bool is_later = life && life->is_second && l->time >= life->start;

	return is_later && since < life->start ? life->start : since;
}

/* Nearly all code is where no other was. */
static bool may_differ(const struct ps_session *s, struct ps_process_code *c,
		       const struct pd_location *l)
{
	const struct ps_jit_time now = ps_session_time_in_dump(s, c, l);
	const uint64_t address = ps_lookup_of(l, l->addr);
	const struct ps_jit_range *r;
	enum ps_jit_found found;

	if (c->life && c->life->is_second)
		return true;
	if (!ps_session_is_file_of(c, &c->dump, l))
		return false;
	found = ps_jit_find_range(&c->dump.code, address, PS_JIT_ANY_TIME, &r);
	return found > PS_JIT_ONE ||
	       (found == PS_JIT_ONE &&
		ps_jit_find_range(&c->dump.code, address, now, &r) == PS_JIT_NOTHING);
}

/* 0 is for names that are the same at all times. */
static uint64_t at_least_1(uint64_t since)
{
	return since ? since : 1;
}

uint64_t ps_session_since(struct ps_session *s, int32_t pid, const struct pd_location *l)
{
	const struct pd_image *image = pd_history_image(s->options.history, l->image);
	struct ps_process_code *code;
	uint64_t since = 0;

	if (!image || image->is_guest || !pd_image_kind_is_own_code(image->kind))
		return 0;
	pthread_mutex_lock(&s->lock);
	if (!ps_session_given_since(s, pid, l, &since)) {
		code = ps_session_code(s, pid);
		if (code && may_differ(s, code, l))
			since = at_least_1(ps_session_code_since(s, code, l));
	}
	pthread_mutex_unlock(&s->lock);
	return since;
}

static int open_at(struct ps_session *s, const struct ps_process_code *c, const char *path,
		   struct ps_jit_file *f)
{
	const int fd = s->options.open(s->options.ctx, path, PS_PLACE_TEMPORARY);

	if (fd < 0 || is_of_process(s, c, fd, f))
		return fd;
	close(fd);
	return -1;
}

static int open_below(struct ps_session *s, const struct ps_process_code *c, const char *root,
		      const char *path, struct ps_jit_file *f)
{
	char inside[PS_PATH_MAX];

	if (snprintf(inside, sizeof(inside), "%s%s", root, path) >= (int)sizeof(inside))
		return -1;
	return open_at(s, c, inside, f);
}

static const struct ps_held_process *held_process(const struct ps_session *s, int32_t pid)
{
	for (size_t i = 0; i < s->places.nr_processes; i++)
		if (s->places.processes[i].pid == pid)
			return &s->places.processes[i];
	return NULL;
}

/* Writes the name that a map has in its process's own PID namespace. */
static void write_map_path(char out[MAP_PATH], int32_t pid)
{
	snprintf(out, MAP_PATH, "/tmp/perf-%d.map", (int)pid);
}

static int open_copy(struct ps_session *s, const struct ps_process_code *c,
		     enum ps_jit_copy_of of, struct ps_jit_file *f)
{
	for (size_t i = s->places.nr_copies; i-- > 0;)
		if (s->places.copies[i].pid == c->pid && s->places.copies[i].of == of)
			return open_at(s, c, s->places.copies[i].path, f);
	return -1;
}

/* Opens a file that the process wrote: a jitdump, or, if `dump` is NULL, a map. It is in its root
 * directory, if it still runs, or there is a copy, or it is in the directory that is kept for it,
 * or here. Returns a descriptor, or -1. */
static int open_written(struct ps_session *s, const struct ps_process_code *c, const char *dump,
			struct ps_jit_file *f)
{
	const struct ps_held_process *held = held_process(s, c->pid);
	char root[32], map[MAP_PATH];
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)c->pid);
	write_map_path(map, c->pid);
	fd = open_below(s, c, root, dump ? dump : map, f);
	if (fd < 0)
		fd = open_copy(s, c, dump ? PS_COPY_JITDUMP : PS_COPY_PERF_MAP, f);
	if (held)
		write_map_path(map, held->inner_pid);
	return fd < 0 ? open_below(s, c, held && held->root ? held->root : "", dump ? dump : map, f)
		      : fd;
}

static void read_written(struct ps_session *s, const struct ps_process_code *c, const char *dump,
			 ps_jit_reader *read, struct ps_jit_file *f)
{
	const int fd = open_written(s, c, dump, f);

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

static void read_code(struct ps_session *s, struct ps_process_code *c)
{
	const struct pd_image *dump;

	find_dumps(s);
	dump = pd_map_find(&s->dumps, (uint64_t)(uint32_t)c->pid + 1);
	if (dump)
		read_written(s, c, dump->path, ps_jit_read_jitdump, &c->dump);
	read_written(s, c, NULL, ps_jit_read_perf_map, &c->map);
}

struct ps_process_code *ps_session_process(struct ps_session *s, int32_t pid)
{
	const uint64_t key = (uint64_t)(uint32_t)pid + 1;
	struct ps_process_code *c = pd_map_find(&s->processes, key);

	if (!c) {
		c = pd_arena_alloc(&s->arena, sizeof(*c));
		if (!c || pd_map_add(&s->processes, key, c))
			return NULL;
		c->pid = pid;
		c->life = ps_session_life(s, pid);
		c->next = s->first_process;
		s->first_process = c;
		read_code(s, c);
	}
	return c;
}

struct ps_process_code *ps_session_code(struct ps_session *s, int32_t pid)
{
	struct ps_process_code *c = ps_session_process(s, pid);

	return c && (c->dump.is_found || c->map.is_found) ? c : NULL;
}

enum ps_jit_found ps_session_find_code(const struct ps_session *s, struct ps_process_code *c,
				       const struct pd_location *l, struct ps_symbol *out,
				       unsigned int *from)
{
	const uint64_t address = ps_lookup_of(l, l->addr);
	const struct ps_jit_time when = ps_session_time_in_dump(s, c, l);
	enum ps_jit_found found = PS_JIT_NOTHING;

	*from = when.earliest ? PS_FROM_JITDUMP : PS_FROM_JITDUMP_UNTIMED;
	if (ps_session_is_file_of(c, &c->dump, l))
		found = ps_jit_find(&c->dump.code, address, when, out);
	if (found != PS_JIT_NOTHING)
		return found;
	*from = PS_FROM_PERF_MAP;
	return ps_session_is_file_of(c, &c->map, l) ?
		       ps_jit_find(&c->map.code, address, PS_JIT_ANY_TIME, out) : PS_JIT_NOTHING;
}

static bool has_code_at(const struct ps_session *s, struct ps_process_code *c,
			const struct pd_location *l)
{
	struct ps_symbol symbol;
	unsigned int from;

	return c && ps_session_find_code(s, c, l, &symbol, &from) != PS_JIT_NOTHING;
}

struct ps_process_code *ps_session_code_at(struct ps_session *s, int32_t pid,
					   struct pd_location *l)
{
	struct ps_process_code *own = ps_session_code(s, pid), *other;
	const struct ps_life *life = ps_session_life(s, pid);
	struct pd_location before = *l;
	struct pd_mapping map;

	if (has_code_at(s, own, l) || !pd_history_mapping(s->options.history, l->map, &map) ||
	    map.pid <= 0 || map.pid == pid || map.machine_pid)
		return own;
	other = ps_session_code(s, map.pid);
	if (life && life->start && life->start < l->time)
		before.time = life->start;
	if (!has_code_at(s, other, &before))
		return own;
	*l = before;
	return other;
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
	pd_map_free(&s->lives);
}
