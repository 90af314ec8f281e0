/* doctor.c - precord --doctor: each check prints what works, or what does not and its remedy. */
#include "inform/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/read_text.h"
#include "base/sysctl.h"
#include "base/tracefs.h"
#include "event/event_kinds.h"
#include "event/explain.h"
#include "inform/doctor_report.h"

#define ATTR_USER_ONLY (ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV)
#define SETCAP "sudo setcap cap_perfmon,cap_ipc_lock+ep \"$(command -v precord)\""

/* Opens the event by its name. Returns 0 or an errno. */
static int try_event(const char *name, uint64_t flags, pid_t pid, int cpu)
{
	struct event_attr attr = { .size = 112, .flags = flags | ATTR_DISABLED };
	int fd;

	event_symbol(name, &attr.type, &attr.config);
	fd = abi_event_open(&attr, pid, cpu, -1, 0);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Opens a tracepoint with its data. Returns 0 or an errno. */
static int try_tracepoint(uint64_t id)
{
	struct event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = 112, .config = id,
				   .sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
				   .flags = ATTR_DISABLED };
	int fd = abi_event_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void check_kernel(struct doctor *d)
{
	int major = 0, minor = 0;
	struct utsname host;

	uname(&host);
	sscanf(host.release, "%d.%d", &major, &minor);
	if (major > 3 || (major == 3 && minor >= 12))
		doctor_ok(d, "kernel %s, %s", host.release, host.machine);
	else
		doctor_bad(d, NULL, "kernel %s is too old: precord needs 3.12", host.release);
}

/* Whether the system call exists and is not filtered; all other checks need it. */
static bool check_call(struct doctor *d)
{
	int error = try_event("dummy", ATTR_USER_ONLY, 0, -1);

	if (error == 0) {
		doctor_ok(d, "perf_event_open works");
		return true;
	}
	if (error == ENOSYS)
		doctor_bad(d, NULL, "this kernel has no performance events (CONFIG_PERF_EVENTS)");
	else if (d->seccomp && (error == EPERM || error == EACCES))
		doctor_bad(d, "docker run --security-opt seccomp=unconfined --cap-add PERFMON ...",
			   "perf_event_open is forbidden by a seccomp filter, as in a container");
	else
		doctor_bad(d, SETCAP, "perf_event_open: %s (kernel.perf_event_paranoid is %ld)",
			   strerror(error), d->paranoid);
	return false;
}

static void check_kernel_side(struct doctor *d)
{
	int error = try_event("cpu-clock", 0, 0, -1);

	if (error == 0)
		doctor_ok(d, "user and kernel code of your programs can be recorded");
	else
		doctor_bad(d, "sudo sysctl kernel.perf_event_paranoid=1",
			   "only user code of your programs can be recorded: "
			   "kernel.perf_event_paranoid is %ld (%s)", d->paranoid, strerror(error));
}

static void check_system_wide(struct doctor *d)
{
	int error = try_event("cpu-clock", 0, -1, 0);

	if (error == 0)
		doctor_ok(d, "all CPUs can be recorded (-a)");
	else
		doctor_bad(d, SETCAP, "other users' programs and all CPUs (-a) can't be recorded: "
			   "kernel.perf_event_paranoid is %ld (%s)", d->paranoid, strerror(error));
}

static void check_hardware(struct doctor *d)
{
	int error = try_event("cycles", ATTR_USER_ONLY, 0, -1);
	uint64_t watchdog = 0;

	if (error) {
		doctor_note(d, "no hardware counters (%s), as in most virtual machines: cpu-clock "
			    "is used instead of cycles", strerror(error));
		return;
	}
	doctor_ok(d, "hardware counters");
	if (read_text_number(AT_FDCWD, "/proc/sys/kernel/nmi_watchdog", 10, &watchdog) && watchdog)
		doctor_note(d, "the NMI watchdog occupies a hardware counter (sudo sysctl "
			    "kernel.nmi_watchdog=0 frees it)");
}

static void check_rate(struct doctor *d)
{
	long rate = sysctl_read("perf_event_max_sample_rate", 0);
	long percent = sysctl_read("perf_cpu_time_max_percent", -1);

	if (rate >= DOCTOR_USUAL_RATE)
		doctor_ok(d, "up to %ld samples per second (kernel.perf_event_max_sample_rate)",
			  rate);
	else
		doctor_bad(d, percent == 0 || percent == 100 ?
			   "sudo sysctl kernel.perf_cpu_time_max_percent=25 "
			   "kernel.perf_event_max_sample_rate=100000" :
			   "sudo sysctl kernel.perf_event_max_sample_rate=100000",
			   "only %ld samples per second: kernel.perf_event_max_sample_rate",
			   rate);
	if (percent >= 0 && percent != DOCTOR_USUAL_PERCENT)
		doctor_note(d, "sampling may take %ld %% of the CPU time, not the usual %d, as "
			    "killed recorders with --cpu-percent leave it (sudo sysctl "
			    "kernel.perf_cpu_time_max_percent=%d)", percent, DOCTOR_USUAL_PERCENT,
			    DOCTOR_USUAL_PERCENT);
}

static void check_buffers(struct doctor *d)
{
	long each = sysctl_read("perf_event_mlock_kb", 516), cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit own = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &own);
	if (d->ipc_lock || d->paranoid < 0 || own.rlim_cur == RLIM_INFINITY)
		doctor_ok(d, "ring buffers of any size");
	else if (each + (long)(own.rlim_cur / 1024) / cpus >= DOCTOR_USUAL_BUFFER)
		doctor_ok(d,
			  "ring buffers of %ld KiB for each CPU (kernel.perf_event_mlock_kb), plus "
			  "%llu KiB in total (ulimit -l)", each,
			  (unsigned long long)own.rlim_cur / 1024);
	else
		doctor_bad(d, "sudo sysctl kernel.perf_event_mlock_kb=516",
			   "ring buffers of only %ld KiB for each CPU: kernel.perf_event_mlock_kb",
			   each);
}

/* To users without the right, the kernel shows 0 for all addresses. */
static void check_kallsyms(struct doctor *d)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	long kptr = sysctl_read("kptr_restrict", 0);
	unsigned long long address = 0;
	char line[512];

	for (int i = 0; file && i < 20000 && !address && fgets(line, sizeof(line), file); i++)
		address = strtoull(line, NULL, 16);
	if (file)
		fclose(file);
	if (!file)
		doctor_note(d, "no /proc/kallsyms: kernel addresses have no names");
	else if (address)
		doctor_ok(d, "the kernel's symbols are readable");
	else
		doctor_bad(d, kptr == 0 ? "sudo sysctl kernel.perf_event_paranoid=1" :
			   "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
			   "the kernel's symbols are hidden: kernel.%s is %ld",
			   kptr ? "kptr_restrict" : "perf_event_paranoid",
			   kptr ? kptr : d->paranoid);
}

static void check_tracepoints(struct doctor *d)
{
	char remedy[3 * PATH_MAX];
	int dir = tracefs_open();
	uint64_t id;

	explain_tracefs_remedy(remedy, sizeof(remedy));
	if (dir < 0 && errno == ENOENT)
		doctor_note(d, "no tracepoints: the kernel has no tracefs");
	else if (dir < 0 || !read_text_number(dir, "events/sched/sched_switch/id", 10, &id))
		doctor_bad(d, remedy, "tracepoints can't be read: only root can read tracefs");
	else if (try_tracepoint(id))
		doctor_bad(d, "sudo sysctl kernel.perf_event_paranoid=-1",
			   "tracepoint data can't be read: kernel.perf_event_paranoid is %ld",
			   d->paranoid);
	else
		doctor_ok(d, "tracepoints");
	if (dir >= 0)
		close(dir);
}

static void check_probes(struct doctor *d)
{
	uint32_t type;
	bool user = pmu_type("uprobe", &type), kernel = pmu_type("kprobe", &type);

	if (!user && !kernel)
		doctor_note(d, "no probes: the kernel has no uprobes and kprobes");
	else if (!d->probes)
		doctor_note(d, "only root can set probes: sudo precord -e uprobe:...");
	else
		doctor_ok(d, "probes in %s%s%s", user ? "programs" : "",
			  user && kernel ? " and " : "", kernel ? "the kernel" : "");
}

static void check_left_probes(struct doctor *d, enum doctor_action action)
{
	const struct probes_left left = probes_left(action == DOCTOR_CLEAN ? PROBES_REMOVE :
								     PROBES_COUNT);

	if (left.removed)
		doctor_ok(d, "removed %zu probes of killed recorders from tracefs", left.removed);
	if (left.n > left.removed)
		doctor_bad(d, "sudo precord --doctor --clean",
			   "%zu probes of killed recorders remain in tracefs",
			   left.n - left.removed);
}

int doctor_run(FILE *out, enum doctor_action action)
{
	struct doctor d = { .out = out };

	doctor_examine_process(&d);
	check_kernel(&d);
	if (check_call(&d)) {
		check_hardware(&d);
		check_kernel_side(&d);
		check_system_wide(&d);
		check_rate(&d);
		check_buffers(&d);
		check_kallsyms(&d);
		check_tracepoints(&d);
		check_probes(&d);
		check_left_probes(&d, action);
	}
	doctor_report_rights(&d);
	return d.bad ? 1 : 0;
}
