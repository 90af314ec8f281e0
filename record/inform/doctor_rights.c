/* doctor_rights.c - what the kernel grants, found by asking for it: in a user namespace root has every capability, and none
 * that counts here. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/abi.h"
#include "event/event_kinds.h"
#include "inform/doctor_report.h"

static bool is_denied(const struct event_attr *attr)
{
	int fd = abi_event_open(attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == EACCES || errno == EPERM);
}

/* Records of namespaces need the capability whatever the sysctl says. */
static bool has_perfmon(void)
{
	const struct event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = 112,
		.flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_NAMESPACES,
	};

	return !is_denied(&attr);
}

/* The right comes first, then that there is no such place. */
static bool may_probe(void)
{
	struct event_attr attr = { .size = 112, .flags = ATTR_DISABLED };

	return (pmu_type("uprobe", &attr.type) || pmu_type("kprobe", &attr.type)) && !is_denied(&attr);
}

/* A user who may lock nothing needs the capability to lock even a page. */
static bool has_ipc_lock(void)
{
	const long size = sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit own = { 0 }, none;
	bool locked;

	if (page == MAP_FAILED || getrlimit(RLIMIT_MEMLOCK, &own))
		return false;
	none = (struct rlimit){ 0, own.rlim_max };
	locked = setrlimit(RLIMIT_MEMLOCK, &none) == 0 && mlock(page, (size_t)size) == 0;
	setrlimit(RLIMIT_MEMLOCK, &own);
	munmap(page, (size_t)size);
	return locked;
}

static bool may_see_programs(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) == 0 || errno != EPERM;
}

void doctor_ask_rights(struct doctor *d)
{
	d->perfmon = has_perfmon();
	d->bpf = may_see_programs();
	d->ipc_lock = has_ipc_lock();
	d->probes = may_probe();
}
