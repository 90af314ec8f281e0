/* mounts.c - reads COMM and MMAP2 records: a program that is started has the mounts that its files
 * are on, and the files that it maps may be gone at the end.
 */
#include "run/mounts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/abi.h"
#include "capture/counter.h"
#include "pd/types.h"
#include "process/clock.h"

enum {
	CHECK_MS = 1000,
	PROCESSES_MOST = 4096,		/* that run already and are looked at */
	RING_PAGES = 32,		/* for the records of a program with 700 libraries */
	RING_PAGES_LEAST = 8,		/* where little memory may be locked */
	COUNTERS_MOST = 1024,		/* of all CPUs and threads */
};

/* The beginnings of COMM, FORK and EXIT records, and an MMAP2 record:
 * include/uapi/linux/perf_event.h. */
struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
};

struct mmap2_record {
	struct comm_record begin;
	uint64_t address, size, file_offset;
	uint32_t major, minor;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char path[PATH_MAX];
};

/* Opens nothing of the file system that the directory is in. Returns a descriptor, or -1. */
static int find_root(pid_t pid, struct mount_root *out)
{
	char path[32];
	struct stat ns, root;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &ns))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &root) == 0) {
		*out = (struct mount_root){ ns.st_dev, ns.st_ino, root.st_dev, root.st_ino };
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool is_same_namespace(const struct mount_root *a, const struct mount_root *b)
{
	return a->ns_dev == b->ns_dev && a->ns_ino == b->ns_ino;
}

static bool is_same_root(const struct mount_root *a, const struct mount_root *b)
{
	return is_same_namespace(a, b) && a->dev == b->dev && a->ino == b->ino;
}

static struct mount_hold *find_hold(struct mounts *m, const struct mount_root *what)
{
	for (size_t i = 0; i < m->n; i++)
		if (is_same_root(&m->holds[i].what, what))
			return &m->holds[i];
	return NULL;
}

static void let_go(struct mounts *m, size_t i)
{
	if (m->holds[i].ns >= 0)
		close(m->holds[i].ns);
	strangers_forget_root(&m->strangers, m->holds[i].root);
	close(m->holds[i].root);
	m->holds[i] = m->holds[--m->n];
}

/* The process that had it last may have ended before others. */
static bool is_in_use(const struct mounts *m, struct mount_hold *held)
{
	pid_t other;

	if (held_is_running(held->pid))
		return true;
	other = strangers_running_in(&m->strangers, held->root);
	if (other >= 0)
		held->pid = other;
	return other >= 0;
}

/* Returns the one whose process ended first, or m->n. */
static size_t find_oldest(struct mounts *m)
{
	size_t oldest = m->n;

	for (size_t i = 0; i < m->n; i++)
		if ((oldest == m->n || m->holds[i].alive < m->holds[oldest].alive) &&
		    !is_in_use(m, &m->holds[i]))
			oldest = i;
	return oldest;
}

static bool make_room(struct mounts *m)
{
	size_t oldest;

	if (m->n < HELD_ROOTS_MOST)
		return true;
	oldest = find_oldest(m);
	if (oldest == m->n)
		return false;
	let_go(m, oldest);
	return true;
}

/* Returns a descriptor, or -1: the process has ended, or is in another namespace by now. The number
 * of a namespace that is not held is soon that of another. */
static int open_namespace(const struct mount_root *what, pid_t pid)
{
	char path[32];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == what->ns_dev &&
		       st.st_ino == what->ns_ino))
		return fd;
	close(fd);
	return -1;
}

/* Takes the descriptor `root`. Returns NULL if it can't be held. */
static struct mount_hold *add_hold(struct mounts *m, const struct mount_root *what, int root,
				   pid_t pid)
{
	const bool is_own = is_same_namespace(what, &m->own);
	bool is_held = held_leaves_room(root) && make_room(m);
	int ns = -1;

	if (is_held && !is_own) {
		ns = open_namespace(what, pid);
		is_held = ns >= 0;
	}
	if (!is_held) {
		close(root);
		return NULL;
	}
	m->holds[m->n] = (struct mount_hold){ *what, ns, root, pid, clock_ms() };
	return &m->holds[m->n++];
}

static void hold_other_root(struct mounts *m, const struct mount_root *what, int root, pid_t pid)
{
	struct mount_hold *held = find_hold(m, what);

	if (held) {
		held->pid = pid;
		held->alive = clock_ms();
		close(root);
	} else {
		held = add_hold(m, what, root, pid);
	}
	if (held)
		strangers_add(&m->strangers, pid, held->root);
}

static void hold_root_of(struct mounts *m, pid_t pid)
{
	struct mount_root what;
	const int root = find_root(pid, &what);

	if (root < 0)
		return;
	if (!is_same_root(&what, &m->own)) {
		hold_other_root(m, &what, root, pid);
		return;
	}
	close(root);
	strangers_add(&m->strangers, pid, -1);
}

static void hold_files_of(struct mounts *m, pid_t pid)
{
	hold_root_of(m, pid);
	images_hold_program(&m->images, pid);
}

static void hold_running_processes(struct mounts *m)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (proc && n < PROCESSES_MOST && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		hold_root_of(m, (pid_t)strtol(entry->d_name, NULL, 10));
		n++;
	}
	if (proc)
		closedir(proc);
}

/* --- what comes later --- */

static int open_counter(pid_t pid, int cpu)
{
	const struct event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY, .wakeup = 1,
		.flags = ATTR_COMM | ATTR_COMM_EXEC | ATTR_MMAP | ATTR_MMAP2 | ATTR_INHERIT |
			 ATTR_WATERMARK | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV,
	};

	return abi_event_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int map_largest_ring(struct ring *r, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring_map(r, fd, RING_FORWARD, RING_PAGES * page) == 0)
		return 0;
	return ring_map(r, fd, RING_FORWARD, RING_PAGES_LEAST * page);
}

/* The first counter of a CPU has the buffer, of which `r` is told; others write to it. */
static bool attach_counter(struct ring *r, int fd)
{
	return r->data ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)r->fd) == 0 :
			 map_largest_ring(r, fd) == 0;
}

static bool watch_thread(struct mounts *m, struct ring *r, pid_t tid, int cpu)
{
	const int fd = open_counter(tid, cpu);

	if (fd < 0)
		return errno == ESRCH;	/* it has ended */
	if (!held_leaves_room(fd) || !attach_counter(r, fd) || counter_watch(m->epoll, fd)) {
		close(fd);
		return false;
	}
	m->counters[m->nr_counters++] = fd;
	return true;
}

static bool watch_cpu(struct mounts *m, const struct int_list *tids, int cpu)
{
	struct ring *r = &m->rings[m->nr_rings];
	bool works = true;

	for (size_t i = 0; i < tids->n && works; i++)
		works = watch_thread(m, r, tids->items[i], cpu);
	if (r->data)
		m->nr_rings++;
	return works;
}

static void stop_watching(struct mounts *m)
{
	for (size_t i = 0; i < m->nr_rings; i++)
		ring_unmap(&m->rings[i]);
	for (size_t i = 0; i < m->nr_counters; i++)
		close(m->counters[i]);
	free(m->rings);
	free(m->counters);
	if (m->epoll >= 0)
		close(m->epoll);
	m->rings = NULL;
	m->counters = NULL;
	m->nr_rings = m->nr_counters = 0;
	m->epoll = -1;
}

static void watch(struct mounts *m, const struct int_list *tids, const struct int_list *cpus)
{
	bool works = tids->n && tids->n <= COUNTERS_MOST / cpus->n;

	if (works) {
		m->rings = calloc(cpus->n, sizeof(*m->rings));
		m->counters = calloc(cpus->n * tids->n, sizeof(*m->counters));
		m->epoll = m->rings && m->counters ? epoll_create1(EPOLL_CLOEXEC) : -1;
	}
	for (size_t i = 0; i < cpus->n && works; i++)
		works = m->epoll >= 0 && watch_cpu(m, tids, cpus->items[i]);
	if (!works)
		stop_watching(m);
}

/* The recorder has its own root: without /proc there is none. */
void mounts_start(struct mounts *m, const struct target *t)
{
	const struct int_list all = { .items = (int[]){ -1 }, .n = 1 };
	const int root = find_root(getpid(), &m->own);

	if (root < 0)
		return;
	close(root);
	strangers_start(&m->strangers);
	m->notes_refusals = t->kind != TARGET_SYSTEM;
	images_start(&m->images, t->kind == TARGET_COMMAND ? IMAGES_TO_THE_END :
								 IMAGES_WHILE_MAPPED);
	/* first, so that a program that is started meanwhile is seen */
	if (t->kind == TARGET_SYSTEM)
		watch(m, &all, target_all_cpus(t));
	else if (!t->per_thread)
		watch(m, &t->threads, target_all_cpus(t));
	if (t->kind == TARGET_SYSTEM)
		hold_running_processes(m);
	for (size_t i = 0; i < t->threads.n && t->kind == TARGET_THREADS; i++)
		hold_files_of(m, t->threads.items[i]);
}

/* Returns a process that has another root directory, or NULL. */
static const struct held_process *find_contained(const struct mounts *m, uint32_t pid)
{
	const struct held_process *p = strangers_find(&m->strangers, (pid_t)pid);

	return p && p->root >= 0 ? p : NULL;
}

static void take_map(struct mounts *m, const struct mmap2_record *record)
{
	const size_t most = record->begin.header.size - offsetof(struct mmap2_record, path);
	const struct held_process *contained = find_contained(m, record->begin.pid);

	if (!memchr(record->path, '\0', most))
		return;
	if (contained)
		jit_copies_note(&m->copies, contained, record->path);
	images_hold_mapped(&m->images, &(struct image_map){
		.pid = (pid_t)record->begin.pid, .address = record->address,
		.size = record->size, .ino = record->ino, .path = record->path,
	});
}

static void take_program(struct mounts *m, pid_t pid)
{
	hold_files_of(m, pid);
	if (m->notes_refusals)
		refusals_look(&m->refusals, pid);
}

/* Few processes go on after their first thread has ended. */
static void take_exit(struct mounts *m, const struct fork_record *record)
{
	const struct held_process *contained = find_contained(m, record->pid);

	if (contained && record->tid == record->pid)
		jit_copies_make(&m->copies, contained);
}

static void take_record(struct mounts *m, const struct ring *r, uint64_t at, size_t size)
{
	union { struct comm_record comm; struct fork_record fork; struct mmap2_record map; } record;
	uint8_t *bytes = (uint8_t *)&record;

	if (size < sizeof(record.comm) || size > sizeof(record))
		return;
	/* it may wrap */
	for (size_t i = 0; i < size; i++)
		bytes[i] = r->data[(at + i) & (r->size - 1)];
	if (record.comm.header.type == PD_RECORD_COMM &&
	    record.comm.header.misc & PERF_RECORD_MISC_COMM_EXEC)
		take_program(m, (pid_t)record.comm.pid);
	else if (record.comm.header.type == PD_RECORD_FORK && size >= sizeof(record.fork))
		strangers_fork(&m->strangers, (pid_t)record.fork.ppid, (pid_t)record.fork.pid);
	else if (record.comm.header.type == PD_RECORD_EXIT && size >= sizeof(record.fork))
		take_exit(m, &record.fork);
	else if (record.comm.header.type == PD_RECORD_MMAP2 &&
		 size > offsetof(struct mmap2_record, path))
		take_map(m, &record.map);
}

static void read_ring(struct mounts *m, struct ring *r)
{
	struct perf_event_header header;
	struct pd_bytes spans[2];
	size_t left = spans_size(spans, ring_peek(r, spans));

	for (uint64_t at = r->tail; left >= sizeof(header); at += header.size) {
		memcpy(&header, r->data + (at & (r->size - 1)), sizeof(header));
		if (header.size < sizeof(header) || header.size > left)
			break;
		take_record(m, r, at, header.size);
		left -= header.size;
	}
	ring_release(r);
}

void mounts_look(struct mounts *m)
{
	if (m->epoll < 0)
		return;
	counters_unwatch_ended(m->epoll);
	for (size_t i = 0; i < m->nr_rings; i++)
		read_ring(m, &m->rings[i]);
}

void mounts_age(struct mounts *m)
{
	const uint64_t now = clock_ms();

	if (now - m->checked < CHECK_MS)
		return;
	m->checked = now;
	for (size_t i = m->n; i-- > 0;)
		if (is_in_use(m, &m->holds[i]))
			m->holds[i].alive = now;
		else if (held_is_over(m->holds[i].pid, &m->holds[i].alive, now))
			let_go(m, i);
	images_age(&m->images, now);
}

void mounts_files(const struct mounts *m, struct held_files *out)
{
	out->holder = getpid();
	out->n = m->n;
	for (size_t i = 0; i < m->n; i++)
		out->fds[i] = m->holds[i].root;
	out->processes = m->strangers.of;
	out->nr_processes = m->strangers.n;
	images_list(&m->images, out);
}

void mounts_close(struct mounts *m)
{
	while (m->n)
		let_go(m, m->n - 1);
	images_close(&m->images);
	jit_copies_close(&m->copies);
	strangers_close(&m->strangers);
	stop_watching(m);
}
