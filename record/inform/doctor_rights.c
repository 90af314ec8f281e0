/* doctor_rights.c - find what the kernel grants, by trying it: root of a user namespace has every
 * capability, but none that the kernel accepts here. */
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

/* NAMESPACES records need the capability whatever the value of the sysctl. */
static bool has_perfmon(void)
{
	const struct event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = 112,
		.flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_NAMESPACES,
	};

	return !is_denied(&attr);
}

/* The kernel checks the right before it finds that the attribute names no probe. */
static bool can_probe(void)
{
	struct event_attr attr = { .size = 112, .flags = ATTR_DISABLED };

	return (pmu_type("uprobe", &attr.type) || pmu_type("kprobe", &attr.type)) &&
	       !is_denied(&attr);
}

/* With a limit of 0, locking even a page needs the capability. */
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

static bool can_list_programs(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) == 0 || errno != EPERM;
}

void doctor_test_rights(struct doctor *d)
{
	d->perfmon = has_perfmon();
	d->bpf = can_list_programs();
	d->ipc_lock = has_ipc_lock();
	d->probes = can_probe();
}
