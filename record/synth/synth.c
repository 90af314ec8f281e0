/* synth.c - records for tasks, maps and the like that exist before the recording begins. */
#include "synth/synth.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc_task.h"
#include "synth/synth_cgroups.h"
#include "synth/synth_kernel.h"
#include "synth/synth_tasks.h"

enum { CPUS_LIST = 0, CPUS_RANGE = 2 };

#define RECORD_MAX 65528		/* bytes, header included */
#define IDS_PER_RECORD ((RECORD_MAX - 16) / 32)
#define THREADS_PER_RECORD ((RECORD_MAX - 16) / 24)
#define CPU_LIMIT 65535			/* CPUs have 16 bits; the last value means any CPU */

static int write_record(struct pd_writer *w, uint32_t type, const struct pd_value *v, size_t n,
			struct pd_error *e)
{
	return pd_writer_record(w, type, 0, -1, v, n, (struct pd_bytes){ 0 }, e);
}

static int no_memory(struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	return -1;
}

int synth_id_index(struct pd_writer *w, const struct synth_id *ids, size_t n, struct pd_error *e)
{
	size_t most = n < IDS_PER_RECORD ? n : IDS_PER_RECORD;
	struct pd_value (*rows)[4] = malloc((most + 1) * sizeof(*rows));
	struct pd_value *entries = malloc((most + 1) * sizeof(*entries));
	int ret = rows && entries ? 0 : no_memory(e);

	while (n && ret == 0) {
		size_t now = n < most ? n : most;

		for (size_t i = 0; i < now; i++) {
			rows[i][0] = (struct pd_value)PD_NUMBER("id", ids[i].id);
			rows[i][1] = (struct pd_value)PD_NUMBER("idx", ids[i].idx);
			rows[i][2] = (struct pd_value)PD_NUMBER("cpu", ids[i].cpu);
			rows[i][3] = (struct pd_value)PD_NUMBER("tid", ids[i].tid);
			entries[i] = (struct pd_value)PD_OBJECT(NULL, rows[i], 4);
		}
		ret = write_record(w, PD_RECORD_ID_INDEX, (const struct pd_value[]){
			PD_ARRAY("entries", entries, now) }, 1, e);
		ids += now;
		n -= now;
	}
	free(rows);
	free(entries);
	return ret;
}

int synth_time_conv(struct pd_writer *w, const struct perf_event_mmap_page *page,
		    struct pd_error *e)
{
	struct perf_event_mmap_page now;
	uint32_t before;

	if (!page->cap_user_time)
		return 0;
	do {	/* a seqlock: the kernel increments it before and after a change */
		before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		memcpy(&now, page, sizeof(now));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((before & 1) || before != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
	return write_record(w, PD_RECORD_TIME_CONV, (const struct pd_value[]){
		PD_NUMBER("time_shift", now.time_shift), PD_NUMBER("time_mult", now.time_mult),
		PD_NUMBER("time_zero", now.time_zero), PD_NUMBER("time_cycles", now.time_cycles),
		PD_NUMBER("time_mask", now.time_mask),
		PD_NUMBER("cap_user_time_zero", now.cap_user_time_zero),
		PD_NUMBER("cap_user_time_short", now.cap_user_time_short) }, 7, e);
}

int synth_finished_init(struct pd_writer *w, struct pd_error *e)
{
	return write_record(w, PD_RECORD_FINISHED_INIT, NULL, 0, e);
}

static void thread_name(const struct synth_options *o, int *proc, pid_t tid, char comm[TASK_COMM])
{
	comm[0] = '\0';
	if (tid <= 0)
		return;
	if (o->waiting && tid == o->workload) {
		task_own_name(comm);
		return;
	}
	if (*proc < 0)
		*proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*proc >= 0)
		task_thread_name(*proc, tid, tid, comm);
}

/* Readers expect one record: threads that do not fit are left out. */
static int write_thread_map(struct pd_writer *w, const struct synth_options *o,
			    const pid_t *threads, size_t n, struct pd_error *e)
{
	struct pd_value (*rows)[2], *entries;
	char (*names)[TASK_COMM];
	int proc = -1, ret = 0;

	n = n < THREADS_PER_RECORD ? n : THREADS_PER_RECORD;
	rows = malloc(n * sizeof(*rows));
	entries = malloc(n * sizeof(*entries));
	names = malloc(n * sizeof(*names));
	if (!rows || !entries || !names) {
		ret = no_memory(e);
	} else {
		for (size_t i = 0; i < n; i++) {
			thread_name(o, &proc, threads[i], names[i]);
			rows[i][0] = (struct pd_value)PD_NUMBER("pid", threads[i]);
			rows[i][1] = (struct pd_value)PD_TEXT("comm", names[i]);
			entries[i] = (struct pd_value)PD_OBJECT(NULL, rows[i], 2);
		}
		ret = write_record(w, PD_RECORD_THREAD_MAP, (const struct pd_value[]){
			PD_ARRAY("entries", entries, n) }, 1, e);
	}
	free(rows);
	free(entries);
	free(names);
	if (proc >= 0)
		close(proc);
	return ret;
}

/* Consecutive CPUs are written as a range; perf before 6.1 does not know that form and skips the
 * record. */
static int write_cpu_map(struct pd_writer *w, const int *cpus, size_t n, struct pd_error *e)
{
	bool any = cpus[0] == -1, range = true;
	uint64_t *list;
	struct pd_value v[4], map;
	int ret;

	if (n >= (RECORD_MAX - 16) / 2)
		n = (RECORD_MAX - 16) / 2;
	for (size_t i = any ? 2 : 1; i < n; i++)
		range = range && cpus[i] == cpus[i - 1] + 1;
	range = range && n > (any ? 1 : 0) && cpus[n - 1] < CPU_LIMIT;
	list = malloc(n * sizeof(*list));
	if (!list)
		return no_memory(e);
	for (size_t i = 0; i < n; i++)
		list[i] = (uint16_t)cpus[i];
	v[0] = (struct pd_value)PD_NUMBER("type", range ? CPUS_RANGE : CPUS_LIST);
	if (range) {
		v[1] = (struct pd_value)PD_NUMBER("any_cpu", any);
		v[2] = (struct pd_value)PD_NUMBER("start_cpu", cpus[any ? 1 : 0]);
		v[3] = (struct pd_value)PD_NUMBER("end_cpu", cpus[n - 1]);
	} else {
		v[1] = (struct pd_value)PD_NUMBERS("cpus", list, n);
	}
	map = (struct pd_value)PD_OBJECT("cpu_map", v, range ? 4 : 2);
	ret = write_record(w, PD_RECORD_CPU_MAP, &map, 1, e);
	free(list);
	return ret;
}

static int write_target_maps(struct pd_writer *w, const struct synth_options *o, struct pd_error *e)
{
	const pid_t one = o->workload > 0 && !o->all_tasks ? o->workload : -1;	/* -1: any */
	bool given = o->nr_threads && !o->all_tasks;

	if (write_thread_map(w, o, given ? o->threads : &one, given ? o->nr_threads : 1, e) != 0)
		return -1;
	return o->nr_cpus ? write_cpu_map(w, o->cpus, o->nr_cpus, e) : 0;
}

int synth_existing(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		   struct pd_error *e)
{
	*report = (struct synth_report){ 0 };
	if ((o->what & SYNTH_KERNEL) && synth_kernel(w, o, report, e) != 0)
		return -1;
	if (write_target_maps(w, o, e) != 0)
		return -1;
	if ((o->what & SYNTH_BPF) && o->bpf && bpf_progs_synth(w, o->bpf, o->event, e) != 0)
		return -1;
	if ((o->what & SYNTH_CGROUPS) && synth_cgroups(w, o, report, e) != 0)
		return -1;
	return o->what & SYNTH_TASKS ? synth_tasks(w, o, report, e) : 0;
}
