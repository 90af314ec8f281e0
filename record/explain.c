/* explain.c - errors of perf_event_open(2) and of mapping buffers, in words that help. */
#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sysctl.h"

static const char *errno_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "?";
}

/* The number behind "Name:" in /proc/self/status. */
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

static bool may_monitor(void)
{
	unsigned long long caps = status_number("CapEff:", 16);

	return caps >> CAP_PERFMON_BIT & 1 || caps >> CAP_SYS_ADMIN_BIT & 1;
}

/* What the event needs, and at which paranoid level an ordinary user has it; 9: at none. */
static int level_needed(const struct event *e, const struct target *t, const char **what)
{
	const struct event_attr *a = &e->attr;

	if (a->flags & ATTR_NAMESPACES) {
		*what = "namespaces can be recorded";
		return 9;
	}
	if (e->probe) {
		*what = "a probe can be set";
		return 9;
	}
	if (a->type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW) {
		*what = "tracepoint data can be read";
		return -1;
	}
	if (t->kind == TARGET_SYSTEM) {
		*what = "a whole cpu can be recorded";
		return 0;
	}
	if (!(a->flags & ATTR_EXCLUDE_KERNEL) || a->sample_type & PERF_SAMPLE_PHYS_ADDR) {
		*what = "the kernel can be recorded";
		return 1;
	}
	*what = t->kind == TARGET_THREADS ? "another user's process can be recorded" :
		"this can be recorded";
	return 9;
}

static void say_remedy(int level, const char *what, const struct say *s)
{
	char path[PATH_MAX] = "precord";
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size > 0)
		path[size] = '\0';
	if (level < 9)
		say(s, SAY_ERROR,
		    "so that %s, try: sudo sysctl kernel.perf_event_paranoid=%d, or: sudo "
		    "setcap cap_perfmon=ep %s",
		    what, level, path);
	else
		say(s, SAY_ERROR, "so that %s, try: sudo precord ..., or: sudo setcap "
		    "cap_perfmon,cap_sys_ptrace=ep %s", what, path);
}

static void explain_permission(const struct event *e, const struct target *t, int error,
			       const struct say *s)
{
	long paranoid = sysctl_read("perf_event_paranoid", 2);
	const char *what;
	int level = level_needed(e, t, &what);

	say(s, SAY_ERROR, "%s: permission denied (%s): kernel.perf_event_paranoid is %ld and "
	    "CAP_PERFMON is %s", e->name, errno_name(error), paranoid,
	    may_monitor() ? "there" : "missing");
	if (status_number("Seccomp:", 10) == 2)
		say(s, SAY_ERROR, "a seccomp filter is in force: a container may need "
		    "--cap-add PERFMON and a profile that allows perf_event_open");
	if (!may_monitor())
		say_remedy(level, what, s);
}

static void explain_absence(const struct event *e, int error, const struct say *s)
{
	if (e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE ||
	    e->attr.type == PERF_TYPE_RAW)
		say(s, SAY_ERROR,
		    "%s: this machine has no such hardware counter (%s); virtual machines "
		    "often have none. Try: -e cpu-clock",
		    e->name, errno_name(error));
	else if (e->probe)
		say(s, SAY_ERROR, "%s: there is no such place (%s)", e->name, errno_name(error));
	else
		say(s, SAY_ERROR,
		    "%s: the kernel has no such event (%s); precord --list shows those it "
		    "has",
		    e->name, errno_name(error));
}

/* What EOPNOTSUPP and EINVAL may be about; NULL: no idea. */
static const char *suspect(const struct event_attr *a)
{
	if (a->flags & ATTR_AUX_OUTPUT || a->sample_type & PERF_SAMPLE_AUX)
		return "no AUX data come with this event";
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return "this machine records no branches for it (-b, -j, --call-graph lbr)";
	if (a->type == PERF_TYPE_BREAKPOINT)
		return "a breakpoint's address must be a multiple of its length, which is 1, 2, 4 "
		       "or 8 "
		       "(8 with x); there is r only together with w";
	if (attr_precise_ip(a))
		return "it can't be so precise: try fewer p";
	if (a->sample_period && a->type > PERF_TYPE_BREAKPOINT)
		return "its PMU may only count, not sample";
	return NULL;
}

void explain_open(const struct event *e, const struct target *t, int error, const struct say *s)
{
	const char *why = suspect(&e->attr);

	switch (error) {
	case EACCES:
	case EPERM:
		explain_permission(e, t, error, s);
		return;
	case ENOENT:
	case ENXIO:
	case ENODEV:
		explain_absence(e, error, s);
		return;
	case EMFILE:
		say(s, SAY_ERROR,
		    "%s: too many open files (EMFILE), one is needed for each event, cpu and "
		    "thread. Try: ulimit -n 65536",
		    e->name);
		return;
	case ENOSPC:
		say(s, SAY_ERROR, "%s: no counter or breakpoint is free (ENOSPC)", e->name);
		return;
	case EBUSY:
		say(s, SAY_ERROR, "%s: someone else uses the PMU alone (EBUSY)", e->name);
		return;
	case EOVERFLOW:
		say(s, SAY_ERROR,
		    "%s: call chains may have %ld frames (EOVERFLOW). Try: sudo sysctl "
		    "kernel.perf_event_max_stack=%u",
		    e->name, sysctl_read("perf_event_max_stack", 127), e->attr.sample_max_stack);
		return;
	case ESRCH:
		say(s, SAY_ERROR, "%s: there is no such process any more (ESRCH)", e->name);
		return;
	case ENOSYS:
		say(s, SAY_ERROR, "this kernel has no performance events (ENOSYS)");
		return;
	default:
		say(s, SAY_ERROR,
		    "%s: the kernel refuses it (%s)%s%s; --print-attr shows what was asked",
		    e->name, errno_name(error), why ? ": " : "", why ? why : "");
	}
}

void explain_mmap(size_t bytes, size_t rings, int error, const struct say *s)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (error != EPERM) {
		say(s, SAY_ERROR,
		    "a buffer of %zu KiB can't be mapped (%s). Try a smaller one: -m 16",
		    bytes / 1024, errno_name(error));
		return;
	}
	say(s, SAY_ERROR, "%zu buffers of %zu KiB are more than may be locked (EPERM): "
	    "kernel.perf_event_mlock_kb is %ld, ulimit -l %llu. Try: -m 16, or: sudo sysctl "
	    "kernel.perf_event_mlock_kb=%zu", rings, bytes / 1024,
	    sysctl_read("perf_event_mlock_kb", 516), (unsigned long long)limit.rlim_cur / 1024,
	    2 * bytes / 1024 + 4);
}
