/* proc_task.c - read a process from /proc with few system calls. */
#include "base/proc_task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/read_text.h"

#define MAPS_CHUNK 32768
#define MAPS_LIMIT (64u << 20)
#define PF_KTHREAD 0x00200000	/* linux/sched.h; in /proc/PID/stat */

static void set_comm(char comm[TASK_COMM], const char *text, size_t size)
{
	if (size > TASK_COMM - 1)
		size = TASK_COMM - 1;
	memcpy(comm, text, size);
	memset(comm + size, 0, TASK_COMM - size);
}

/* "PID (COMM) S PPID ...": comm may contain ") ", so the last ")" ends it. */
static bool read_stat(struct task *t, int proc, unsigned long *threads)
{
	char path[32], text[1024], *open, *close;
	unsigned long flags = 0;
	long ppid = 0;

	snprintf(path, sizeof(path), "%d/stat", (int)t->pid);
	if (read_text(proc, path, text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return false;
	set_comm(t->comm, open + 1, (size_t)(close - open - 1));
	*threads = 1;
	/* state ppid pgrp session tty tpgid flags, 10 numbers, num_threads */
	if (sscanf(close + 1, " %*c %ld %*s %*s %*s %*s %lu"
		   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu", &ppid, &flags, threads) < 2)
		return false;
	t->ppid = (pid_t)ppid;
	t->kernel = (flags & PF_KTHREAD) != 0;
	return true;
}

bool task_thread_name(int proc, pid_t pid, pid_t tid, char comm[TASK_COMM])
{
	char path[64], text[128];
	ssize_t n;

	snprintf(path, sizeof(path), "%d/task/%d/comm", (int)pid, (int)tid);
	n = read_text(proc, path, text, sizeof(text));
	if (n < 0)
		return false;
	set_comm(comm, text, (size_t)n);
	return true;
}

void task_own_name(char comm[TASK_COMM])
{
	_Static_assert(TASK_COMM >= 16, "the size that prctl(2) writes");
	prctl(PR_GET_NAME, comm);
}

bool task_thread_process(int proc, pid_t tid, pid_t *pid)
{
	char path[32], text[4096], *at;

	snprintf(path, sizeof(path), "%d/status", (int)tid);
	if (read_text(proc, path, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "\nTgid:");
	if (!at)
		return false;
	*pid = (pid_t)strtol(at + 6, NULL, 10);
	return *pid > 0;
}

static struct task_thread *add_thread(struct task *t)
{
	if (t->nr_threads == t->room_threads) {
		size_t room = t->room_threads ? t->room_threads * 2 : 32;
		struct task_thread *more = realloc(t->threads, room * sizeof(*more));

		if (!more)
			return NULL;
		t->threads = more;
		t->room_threads = room;
	}
	return &t->threads[t->nr_threads++];
}

static void read_threads(struct task *t, int proc)
{
	struct dirent *entry;
	char path[32];
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%d/task", (int)t->pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct task_thread *thread;

		if (tid <= 0 || tid == t->pid)
			continue;
		thread = add_thread(t);
		t->lacks_memory |= !thread;
		if (!thread)
			break;
		thread->tid = tid;
		if (!task_thread_name(proc, t->pid, tid, thread->comm))
			t->nr_threads--;
	}
	closedir(dir);
}

static void read_namespaces(struct task *t, int proc)
{
	/* In the kernel's order: linux/perf_event.h, from NET_NS_INDEX on. */
	static const char *const names[TASK_NAMESPACES] = {
		"net", "uts", "ipc", "pid", "user", "mnt", "cgroup",
	};
	struct stat st;
	char path[48];

	for (size_t i = 0; i < TASK_NAMESPACES; i++) {
		snprintf(path, sizeof(path), "%d/ns/%s", (int)t->pid, names[i]);
		if (fstatat(proc, path, &st, 0) != 0)
			memset(&st, 0, sizeof(st));
		else
			t->nr_namespaces = TASK_NAMESPACES;
		t->namespaces[i] = (struct task_ns){ st.st_dev, st.st_ino };
	}
}

static bool maps_have_room(struct task *t)
{
	size_t room = t->maps_room ? t->maps_room * 2 : MAPS_CHUNK;
	char *more;

	if (t->maps_room - t->maps_size > MAPS_CHUNK / 4)
		return true;
	more = room <= MAPS_LIMIT ? realloc(t->maps, room) : NULL;
	t->lacks_memory |= !more;
	if (!more)
		return false;
	t->maps = more;
	t->maps_room = room;
	return true;
}

static void read_maps(struct task *t, int proc, unsigned int timeout_ms)
{
	const struct deadline limit = deadline_in(timeout_ms, NULL);
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "%d/maps", (int)t->pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && maps_have_room(t)) {
		ssize_t got = read(fd, t->maps + t->maps_size, t->maps_room - t->maps_size - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		t->maps_size += (size_t)got;
		if (deadline_is_over(&limit)) {
			t->timed_out = true;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	if (t->maps)
		t->maps[t->maps_size] = '\0';
}

bool task_read(struct task *t, int proc, pid_t pid, unsigned int want, unsigned int timeout_ms)
{
	unsigned long threads;

	t->pid = pid;
	t->nr_threads = t->nr_namespaces = t->maps_size = 0;
	t->timed_out = t->lacks_memory = false;
	if (!read_stat(t, proc, &threads))
		return false;
	if (want & TASK_NS)
		read_namespaces(t, proc);
	if ((want & TASK_MAPS) && !t->kernel)
		read_maps(t, proc, timeout_ms);
	if ((want & TASK_THREADS) && threads > 1)
		read_threads(t, proc);
	return true;
}

void task_release(struct task *t)
{
	free(t->threads);
	free(t->maps);
	*t = (struct task){ 0 };
}

static bool parse_hex(const char **at, char end, uint64_t *out)
{
	uint64_t value = 0;
	const char *p = *at;

	for (;; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (digit > 9) {
			digit = (unsigned int)((*p | 0x20) - 'a') + 10;
			if (digit < 10 || digit > 15)
				break;
		}
		value = value << 4 | digit;
	}
	if (p == *at || *p != end)
		return false;
	*at = p + 1;
	*out = value;
	return true;
}

static bool parse_permissions(const char **at, struct task_map *m)
{
	const char *p = *at;

	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return false;
	m->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		  (p[2] == 'x' ? PROT_EXEC : 0);
	m->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*at = p + 5;
	return true;
}

/* START-END PERMS PGOFF MAJ:MIN INO   NAME */
static bool parse_map(const char *p, const char *end, struct task_map *m)
{
	uint64_t maj, min;
	char *after;

	if (!parse_hex(&p, '-', &m->start) || !parse_hex(&p, ' ', &m->end) ||
	    !parse_permissions(&p, m) || !parse_hex(&p, ' ', &m->pgoff) ||
	    !parse_hex(&p, ':', &maj) || !parse_hex(&p, ' ', &min))
		return false;
	m->maj = (uint32_t)maj;
	m->min = (uint32_t)min;
	m->ino = strtoull(p, &after, 10);
	p = after;
	while (p < end && *p == ' ')
		p++;
	m->name = p < end ? p : end;
	m->name_size = (size_t)(end - m->name);
	return true;
}

bool task_map_next(const char **text, struct task_map *out)
{
	while (*text && **text) {
		const char *line = *text, *end = strchr(line, '\n');

		if (!end)	/* cut off by the time limit */
			return false;
		*text = end + 1;
		if (parse_map(line, end, out))
			return true;
	}
	return false;
}
