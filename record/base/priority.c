/* priority.c - run the recorder soon after it wakes up.
 *
 * While the recorder waits for a cpu, ring buffers overflow. Since Linux 6.12 a task that asks for
 * short time slices gets the cpu sooner after it wakes up, without privilege and without more cpu
 * time in total. Older kernels ignore the request.
 */
#include "base/priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 };		/* the shortest that the kernel grants */

/* struct sched_attr of linux/sched/types.h, a header that conflicts with sched.h. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void request_short_slices(void)
{
	struct scheduling t = { .size = sizeof(t) };

	if (syscall(SYS_sched_getattr, 0, &t, sizeof(t), 0) || t.policy != SCHED_OTHER)
		return;
	t.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &t, 0);	/* on an error slices keep their length */
}

void priority_set(const struct settings *o, const struct logger *log)
{
	struct sched_param p = { .sched_priority = (int)o->realtime };

	if (o->exit_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (o->realtime == NOT_GIVEN)
		request_short_slices();
	else if (sched_setscheduler(0, SCHED_FIFO, &p))
		log_at(log, LOG_WARNING, "can't set the SCHED_FIFO priority: %s", strerror(errno));
}

void priority_reset(void)
{
	const struct sched_param p = { 0 };
	int policy = sched_getscheduler(0);

	/* This also resets the time slice. Other policies were not the recorder's choice. */
	if (policy == SCHED_FIFO || policy == SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &p);
}
