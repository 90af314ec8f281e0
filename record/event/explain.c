/* explain.c - explain errors of perf_event_open(2) and of mapping ring buffers. */
#include "event/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/kernel_version.h"
#include "base/sysctl.h"
#include "base/tracefs.h"

/* Returns the name of an error of perf_event_open(2) or mmap(2), or the text of another one:
 * strerrorname_np() is not in every C library. */
static const char *errno_name(int error)
{
#define NAME(e) [e] = #e
	static const char *const names[] = {
		NAME(E2BIG), NAME(EACCES), NAME(EAGAIN), NAME(EBADF), NAME(EBUSY), NAME(EEXIST),
		NAME(EFAULT), NAME(EINTR), NAME(EINVAL), NAME(EIO), NAME(EMFILE), NAME(ENFILE),
		NAME(ENODEV), NAME(ENOENT), NAME(ENOMEM), NAME(ENOSPC), NAME(ENOSYS), NAME(ENXIO),
		NAME(EOPNOTSUPP), NAME(EOVERFLOW), NAME(EPERM), NAME(ESRCH),
	};
#undef NAME
	const size_t n = sizeof(names) / sizeof(names[0]);

	return error >= 0 && (size_t)error < n && names[error] ? names[error] : strerror(error);
}

/* Returns the number after "Name:" in /proc/self/status, 0 if there is none. */
static unsigned long long status_number(const char *name, int base)
{
	char text[8192], *line;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	line = strstr(text, name);
	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

enum { CAP_PERFMON_BIT = 38, CAP_SYS_ADMIN_BIT = 21 };

static bool has_perfmon(void)
{
	unsigned long long caps = status_number("CapEff:", 16);

	return caps >> CAP_PERFMON_BIT & 1 || caps >> CAP_SYS_ADMIN_BIT & 1;
}

/* Rights that an ordinary user needs for a recording: a lower sysctl, capabilities, or root. */
struct remedy {
	const char *what;
	int paranoid;			/* NO_LEVEL: no value of the sysctl helps */
	bool other_tasks;		/* tasks of another user */
	bool only_root;
};
enum { NO_LEVEL = 9 };

static struct remedy remedy_for(const struct event *e, const struct target *t)
{
	const struct event_attr *a = &e->attr;

	if (e->probe)
		return (struct remedy){ "a probe can be set", NO_LEVEL, .only_root = true };
	if (a->flags & ATTR_NAMESPACES)
		return (struct remedy){ "namespaces can be recorded", NO_LEVEL };
	if (a->type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW)
		return (struct remedy){ "tracepoint data can be read", -1 };
	if (t->kind == TARGET_SYSTEM)
		return (struct remedy){ "a whole CPU can be recorded", 0 };
	if (!(a->flags & ATTR_EXCLUDE_KERNEL))
		return (struct remedy){ "the kernel can be recorded", 1 };
	if (a->sample_type & PERF_SAMPLE_PHYS_ADDR)
		return (struct remedy){ "physical addresses can be recorded", 1 };
	if (t->kind == TARGET_THREADS)
		return (struct remedy){ "another user's process can be recorded", NO_LEVEL,
					.other_tasks = true };
	return (struct remedy){ "the event can be recorded", NO_LEVEL };
}

/* CAP_PERFMON exists since Linux 5.8, and covers other users' tasks since 5.11. */
static const char *capabilities_for(const struct remedy *r)
{
	if (!kernel_is_at_least(5, 8))
		return r->other_tasks ? "cap_sys_admin,cap_sys_ptrace" : "cap_sys_admin";
	return r->other_tasks && !kernel_is_at_least(5, 11) ? "cap_perfmon,cap_sys_ptrace" :
							     "cap_perfmon";
}

static void own_path(char path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (size > 0)
		path[size] = '\0';
	else
		snprintf(path, PATH_MAX, "precord");
}

static void log_remedy(const struct remedy *r, const struct logger *log)
{
	char path[PATH_MAX], level[96] = "sudo precord ...";

	own_path(path);
	if (r->paranoid != NO_LEVEL)
		snprintf(level, sizeof(level), "sudo sysctl kernel.perf_event_paranoid=%d",
			 r->paranoid);
	if (r->only_root)
		log_at(log, LOG_ERROR, "so that %s, try: %s", r->what, level);
	else
		log_at(log, LOG_ERROR, "so that %s, try: %s, or: sudo setcap %s=ep %s", r->what,
		       level, capabilities_for(r), path);
}

static void explain_permission(const struct event *e, const struct target *t, int error,
			       const struct logger *log)
{
	long paranoid = sysctl_read("perf_event_paranoid", 2);
	const struct remedy remedy = remedy_for(e, t);

	log_at(log, LOG_ERROR, "%s: permission denied (%s): kernel.perf_event_paranoid is %ld and "
	       "CAP_PERFMON is %s", e->name, errno_name(error), paranoid,
	       has_perfmon() ? "present" : "missing");
	if (status_number("Seccomp:", 10) == 2)
		log_at(log, LOG_ERROR, "a seccomp filter is active: a container may need "
		       "--cap-add PERFMON and a profile that allows perf_event_open");
	if (!has_perfmon() || remedy.only_root)
		log_remedy(&remedy, log);
}

static void explain_absence(const struct event *e, int error, const struct logger *log)
{
	if (e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE ||
	    e->attr.type == PERF_TYPE_RAW)
		log_at(log, LOG_ERROR,
		       "%s: this machine has no such hardware counter (%s); virtual machines "
		       "often have none. Try: -e cpu-clock",
		       e->name, errno_name(error));
	else if (e->probe)
		log_at(log, LOG_ERROR, "%s: no probe can be set there (%s)", e->name,
		       errno_name(error));
	else
		log_at(log, LOG_ERROR,
		       "%s: the kernel has no such event (%s); precord --list shows its events",
		       e->name, errno_name(error));
}

/* Returns the likely reason for EOPNOTSUPP or EINVAL, or NULL. */
static const char *likely_reason(const struct event_attr *a)
{
	if (a->flags & ATTR_AUX_OUTPUT || a->sample_type & PERF_SAMPLE_AUX)
		return "this event can't have AUX data";
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return "this machine can't record its branches (-b, -j, --call-graph lbr)";
	if (a->type == PERF_TYPE_BREAKPOINT)
		return "a breakpoint's address must be a multiple of its length, which is 1, 2, 4 "
		       "or 8 (8 with x); r needs w";
	if (attr_precise_ip(a))
		return "it does not support this precise level: try fewer p";
	if (a->sample_period && a->type > PERF_TYPE_BREAKPOINT)
		return "its PMU may support counting only, not sampling";
	return NULL;
}

/* Returns what the error means for any event, or NULL. */
static const char *meaning_of(int error)
{
	static const struct {
		int error;
		const char *text;
	} rows[] = {
		{ EMFILE, "too many open files (EMFILE): each event needs one on each CPU and for "
			  "each thread. Try: ulimit -n 65536" },
		{ ENOSPC, "no counter or breakpoint is free (ENOSPC)" },
		{ EBUSY, "another process has exclusive use of the PMU (EBUSY)" },
		{ E2BIG, "this kernel is too old for a field of the attribute (E2BIG): config3 "
			 "needs Linux 6.3, sig_data 5.13, --max-stack 4.8; --print-attr shows the "
			 "fields" },
		{ ESRCH, "the process does not exist any more (ESRCH)" },
		{ ENOSYS, "this kernel has no performance events (ENOSYS)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].error == error)
			return rows[i].text;
	return NULL;
}

void explain_open(const struct event *e, const struct target *t, int error,
		  const struct logger *log)
{
	const char *why = likely_reason(&e->attr), *meaning = meaning_of(error);

	if (error == EACCES || error == EPERM)
		explain_permission(e, t, error, log);
	else if (error == ENOENT || error == ENXIO || error == ENODEV)
		explain_absence(e, error, log);
	else if (error == EOVERFLOW)
		log_at(log, LOG_ERROR,
		       "%s: call chains are limited to %ld frames (EOVERFLOW). Try: sudo sysctl "
		       "kernel.perf_event_max_stack=%u",
		       e->name, sysctl_read("perf_event_max_stack", 127), e->attr.sample_max_stack);
	else if (meaning)
		log_at(log, LOG_ERROR, "%s: %s", e->name, meaning);
	else
		log_at(log, LOG_ERROR,
		       "%s: the kernel refuses it (%s)%s%s; --print-attr shows the attribute",
		       e->name, errno_name(error), why ? ": " : "", why ? why : "");
}

/* Two things are needed: files of tracefs are root's, and tracepoint data are the kernel's. The
 * gid of the mount applies to all files, also later ones. */
void explain_tracefs_remedy(char *text, size_t size)
{
	const struct remedy tracepoints = { .paranoid = -1 };
	char path[PATH_MAX], own[PATH_MAX], caps[PATH_MAX + 64] = "";
	bool mounted = tracefs_path(path, sizeof(path));

	own_path(own);
	if (!has_perfmon() && sysctl_read("perf_event_paranoid", 2) >= 0)
		snprintf(caps, sizeof(caps), " && sudo setcap %s=ep %s",
			 capabilities_for(&tracepoints), own);
	if (geteuid() == 0)
		snprintf(text, size, "docker run -v %s:%s --cap-add PERFMON ...", path, path);
	else
		snprintf(text, size, "sudo mount %sgid=%u,mode=750 %s%s%s",
			 mounted ? "-o remount," : "-t tracefs -o ", (unsigned int)getgid(),
			 mounted ? "" : "tracefs ", path, caps);
}

void explain_tracefs(const char *tracepoint, int error, const struct logger *log)
{
	char remedy[3 * PATH_MAX];

	if (error == ENOENT) {
		log_at(log, LOG_ERROR, "tracepoint '%s': this kernel has no tracefs", tracepoint);
		return;
	}
	explain_tracefs_remedy(remedy, sizeof(remedy));
	log_at(log, LOG_ERROR, "tracepoint '%s': tracefs can't be read (%s). Try: %s", tracepoint,
	       errno_name(error), remedy);
}

int explain_empty_list(const char *glob, const struct logger *log)
{
	int tracefs = tracefs_open(), error = errno;
	bool readable = tracefs >= 0 &&
			faccessat(tracefs, "events/header_page", R_OK, AT_EACCESS) == 0;
	char remedy[3 * PATH_MAX];

	if (tracefs >= 0)
		close(tracefs);
	explain_tracefs_remedy(remedy, sizeof(remedy));
	if (readable || (tracefs < 0 && error == ENOENT))
		return log_error(log, CLI_INPUT, "no event matches '%s'", glob);
	return log_error(log, CLI_INPUT,
			 "no event matches '%s', but tracepoints can't be read. Try: %s",
			 glob, remedy);
}

enum { SMALL_PAGES = 16, USUAL_MLOCK_KB = 516 };

/* Returns whether the limits allow the buffers where no other recording of the user has a part. */
static bool may_fit(size_t bytes, size_t rings, size_t mlock_kb, const struct rlimit *locked)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	return locked->rlim_cur == RLIM_INFINITY ||
	       rings * (bytes + page) <= mlock_kb * 1024 * cpus + locked->rlim_cur;
}

static void explain_locked_memory(size_t bytes, size_t rings, const struct logger *log)
{
	const size_t small = SMALL_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	const size_t now = (size_t)sysctl_read("perf_event_mlock_kb", USUAL_MLOCK_KB);
	const size_t more = 2 * bytes / 1024 + 4;
	struct rlimit limit = { 0 };
	const char *first = "";

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (bytes > small && may_fit(small, rings, now, &limit))
		first = "-m 16, or: ";
	else if (may_fit(bytes, rings, now, &limit))
		first = "end this user's other recordings, or: ";
	log_at(log, LOG_ERROR, "%zu buffers of %zu KiB exceed the limit for locked memory (EPERM): "
	       "kernel.perf_event_mlock_kb is %zu, ulimit -l %llu. Try: %ssudo sysctl "
	       "kernel.perf_event_mlock_kb=%zu", rings, bytes / 1024, now,
	       (unsigned long long)limit.rlim_cur / 1024, first,
	       now + (more > USUAL_MLOCK_KB ? more : USUAL_MLOCK_KB));
}

void explain_mmap(size_t bytes, size_t rings, int error, const struct logger *log)
{
	if (error == EPERM)
		explain_locked_memory(bytes, rings, log);
	else if (bytes > SMALL_PAGES * (size_t)sysconf(_SC_PAGESIZE))
		log_at(log, LOG_ERROR,
		       "a buffer of %zu KiB can't be mapped (%s). Try a smaller one: -m 16",
		       bytes / 1024, errno_name(error));
	else
		log_at(log, LOG_ERROR, "a buffer of %zu KiB can't be mapped (%s)", bytes / 1024,
		       errno_name(error));
}
