/* synth_tasks.c - COMM, FORK, NAMESPACES and MMAP2 records for existing tasks. */
#include "synth/synth_tasks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/proc_task.h"
#include "base/read_text.h"
#include "synth/synth_maps.h"
#include "synth/synth_readers.h"

#define TIMEOUT_MS 500
#define MISC_FORK_EXEC (1 << 13)	/* linux/perf_event.h */

struct synth_run {
	struct pd_writer *w;
	const struct synth_options *o;
	struct synth_report *report;
	struct synth_maps *maps;
	struct pd_error *e;
};

static int write_record(const struct synth_run *r, uint32_t type, uint16_t misc,
			const struct pd_value *v, size_t n)
{
	return pd_writer_record(r->w, type, misc, r->o->event, v, n, (struct pd_bytes){ 0 }, r->e);
}

static int write_comm(const struct synth_run *r, pid_t pid, pid_t tid, const char *comm)
{
	const struct pd_value v[] = {
		PD_NUMBER("pid", pid), PD_NUMBER("tid", tid), PD_TEXT("comm", comm),
	};

	r->report->tasks++;
	return write_record(r, PD_RECORD_COMM, 0, v, 3);
}

/* The parent of a thread is its process; that of a process is the process that forked it. */
static int write_fork(const struct synth_run *r, pid_t pid, pid_t tid, pid_t parent)
{
	const struct pd_value v[] = {
		PD_NUMBER("pid", pid), PD_NUMBER("ppid", parent), PD_NUMBER("tid", tid),
		PD_NUMBER("ptid", parent), PD_NUMBER("time", 0),
	};

	return write_record(r, PD_RECORD_FORK, MISC_FORK_EXEC, v, 5);
}

static int write_namespaces(const struct synth_run *r, const struct task *t, pid_t tid)
{
	struct pd_value pairs[TASK_NAMESPACES][2], rows[TASK_NAMESPACES];
	const struct pd_value v[] = {
		PD_NUMBER("pid", t->pid), PD_NUMBER("tid", tid),
		PD_ARRAY("namespaces", rows, t->nr_namespaces),
	};

	for (size_t i = 0; i < t->nr_namespaces; i++) {
		pairs[i][0] = (struct pd_value)PD_NUMBER("dev", t->namespaces[i].dev);
		pairs[i][1] = (struct pd_value)PD_NUMBER("inode", t->namespaces[i].inode);
		rows[i] = (struct pd_value)PD_OBJECT(NULL, pairs[i], 2);
	}
	return write_record(r, PD_RECORD_NAMESPACES, 0, v, 3);
}

/* Writes the records of a thread that was just forked and named. */
static int write_thread(const struct synth_run *r, const struct task *t, pid_t tid,
			const char *comm)
{
	pid_t parent = tid == t->pid ? t->ppid : t->pid;

	if (r->o->all_tasks && write_fork(r, t->pid, tid, parent) != 0)
		return -1;
	if (t->nr_namespaces && write_namespaces(r, t, tid) != 0)
		return -1;
	return write_comm(r, t->pid, tid, comm);
}

static int write_process(const struct synth_run *r, const struct task *t)
{
	if (write_thread(r, t, t->pid, t->comm) != 0 || synth_maps_write(r->maps, t) != 0)
		return -1;
	r->report->timed_out += t->timed_out;
	r->report->lacks_memory |= t->lacks_memory;
	for (size_t i = 0; i < t->nr_threads; i++)
		if (write_thread(r, t, t->threads[i].tid, t->threads[i].comm) != 0)
			return -1;
	return 0;
}

static unsigned int task_wants(const struct synth_options *o)
{
	return (o->what & (SYNTH_MAPS | SYNTH_DATA_MAPS) ? TASK_MAPS : 0) |
	       (o->what & SYNTH_NAMESPACES ? TASK_NS : 0) | (o->all_tasks ? TASK_THREADS : 0);
}

static unsigned int maps_timeout(const struct synth_options *o)
{
	return o->timeout_ms ? o->timeout_ms : TIMEOUT_MS;
}

static bool is_deadline_over(const struct synth_run *r)
{
	r->report->cut = r->report->cut || deadline_is_over(&r->o->deadline);
	return r->report->cut;
}

/* Returns the pid that was given last, or the largest one. */
static unsigned int find_last_pid(void)
{
	unsigned int last = 0;
	char text[128];
	const char *number;

	if (read_text(AT_FDCWD, "/proc/loadavg", text, sizeof(text)) <= 0)
		return UINT_MAX;
	number = strrchr(text, ' ');
	return number && sscanf(number, "%u", &last) == 1 ? last : UINT_MAX;
}

static void reverse(unsigned int *pids, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const unsigned int pid = pids[i];

		pids[i] = pids[n - 1 - i];
		pids[n - 1 - i] = pid;
	}
}

/* Puts the newest processes first: they are the ones that may end before they are read. Pids
 * ascend; above the one that was given last they are of the round before. */
static void sort_newest_first(unsigned int *pids, size_t n)
{
	const unsigned int last = find_last_pid();
	size_t newest = 0;

	while (newest < n && pids[newest] <= last)
		newest++;
	reverse(pids, newest);
	reverse(pids + newest, n - newest);
}

/* Writes all processes, the newest first. */
static int write_all_tasks(const struct synth_run *r)
{
	struct synth_readers *readers;
	const struct task *t;
	unsigned int *pids;
	int ret = 0;
	size_t n;

	if (list_numbered("/proc", "", &pids, &n))
		r->report->lacks_memory = true;
	sort_newest_first(pids, n);
	readers = synth_readers_start(pids, n, task_wants(r->o), maps_timeout(r->o),
				      r->o->nr_readers);
	r->report->lacks_memory |= !readers;
	while (readers && ret == 0 && !is_deadline_over(r) && (t = synth_readers_next(readers)))
		ret = write_process(r, t);
	synth_readers_stop(readers);
	free(pids);
	return ret;
}

static bool has_pid(const pid_t *list, size_t n, pid_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == tid)
			return true;
	return false;
}

/* Writes the threads of the options, and before the first of a process the process with its
 * maps. */
static int write_threads(const struct synth_run *r, int proc)
{
	const struct synth_options *o = r->o;
	pid_t *seen = calloc(o->nr_threads, sizeof(*seen));
	size_t nr_seen = 0;
	struct task t = { 0 };
	int ret = 0;

	r->report->lacks_memory |= !seen;
	for (size_t i = 0; seen && i < o->nr_threads && ret == 0 && !is_deadline_over(r); i++) {
		pid_t tid = o->threads[i], pid;
		char comm[TASK_COMM];

		if (!task_thread_process(proc, tid, &pid))
			continue;
		if (!has_pid(seen, nr_seen, pid) &&
		    task_read(&t, proc, pid, task_wants(o), maps_timeout(o))) {
			seen[nr_seen++] = pid;
			ret = write_process(r, &t);
		}
		if (ret == 0 && tid != pid && task_thread_name(proc, pid, tid, comm)) {
			struct task head = { .pid = pid, .nr_namespaces = 0 };

			ret = write_thread(r, t.pid == pid ? &t : &head, tid, comm);
		}
	}
	task_release(&t);
	free(seen);
	return ret;
}

static int write_chosen(const struct synth_run *r, int proc)
{
	return r->o->all_tasks ? write_all_tasks(r) : write_threads(r, proc);
}

/* Writes a process for its namespaces, unless it is recorded anyhow. */
static int write_namespaces_of(const struct synth_run *r, int proc, pid_t pid)
{
	struct task t = { 0 };
	int ret = 0;

	if (!has_pid(r->o->threads, r->o->nr_threads, pid) &&
	    task_read(&t, proc, pid, TASK_NS, TIMEOUT_MS) && t.nr_namespaces)
		ret = write_thread(r, &t, pid, t.comm);
	task_release(&t);
	return ret;
}

/* The namespaces of process 1 are those of this machine, and the files that the recorder can open
 * are those of its own: by them, processes are known to be in a container. */
static int write_own_namespaces(const struct synth_run *r, int proc)
{
	if (r->o->all_tasks || !(r->o->what & SYNTH_NAMESPACES))
		return 0;
	return write_namespaces_of(r, proc, 1) || write_namespaces_of(r, proc, getpid()) ? -1 : 0;
}

int synth_tasks(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		struct pd_error *e)
{
	struct synth_run r = { w, o, report, NULL, e };
	int proc, ret;

	if (!o->all_tasks && o->nr_threads == 0 && !(o->what & SYNTH_NAMESPACES))
		return 0;
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return 0;
	r.maps = synth_maps_new(w, o, report, proc, e);
	report->lacks_memory |= !r.maps;
	ret = write_own_namespaces(&r, proc);
	if (r.maps && !ret)
		ret = write_chosen(&r, proc);
	synth_maps_free(r.maps);
	close(proc);
	return ret;
}

int synth_workload(struct pd_writer *w, const struct synth_options *o, struct pd_error *e)
{
	struct synth_report report = { 0 };
	struct synth_run r = { w, o, &report, NULL, e };
	struct task t = { 0 };
	int proc, ret = 0;

	if (o->waiting && !(o->what & SYNTH_NAMESPACES)) {
		task_own_name(t.comm);
		return o->what & SYNTH_TASKS ? write_comm(&r, o->workload, o->workload, t.comm) : 0;
	}
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return 0;
	if ((o->what & SYNTH_TASKS) && o->workload > 0 &&
	    task_read(&t, proc, o->workload, o->what & SYNTH_NAMESPACES ? TASK_NS : 0,
		      TIMEOUT_MS)) {
		ret = write_comm(&r, t.pid, t.pid, t.comm);
		if (ret == 0 && t.nr_namespaces)
			ret = write_namespaces(&r, &t, t.pid);
	}
	task_release(&t);
	close(proc);
	return ret;
}
