/* priority.c - a recorder that has to wait for its turn loses what the buffers can't hold. Since
 * Linux 6.12 a task that asks for short turns gets them soon after it wakes up; it needs no
 * privilege and takes no more time in all. Older kernels don't listen. */
#include "base/priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURN_NS = 100000 };		/* the shortest there is */

/* struct sched_attr (linux/sched/types.h), whose header does not get along with sched.h. */
struct turn {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void ask_for_short_turns(void)
{
	struct turn t = { .size = sizeof(t) };

	if (syscall(SYS_sched_getattr, 0, &t, sizeof(t), 0) || t.policy != SCHED_OTHER)
		return;
	t.runtime = TURN_NS;
	if (syscall(SYS_sched_setattr, 0, &t, 0))
		return;			/* then turns stay as they are */
}

void priority_set(const struct settings *o, const struct logger *log)
{
	struct sched_param p = { .sched_priority = (int)o->realtime };

	if (o->exit_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (o->realtime == NOT_GIVEN)
		ask_for_short_turns();
	else if (sched_setscheduler(0, SCHED_FIFO, &p))
		log_at(log, LOG_WARNING, "no SCHED_FIFO priority: %s", strerror(errno));
}

void priority_be_ordinary(void)
{
	const struct sched_param p = { 0 };
	int policy = sched_getscheduler(0);

	/* Turns get back their usual length by that. Others were not the recorder's choice. */
	if (policy == SCHED_FIFO || policy == SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &p);
}
