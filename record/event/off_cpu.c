/* off_cpu.c - --off-cpu: the event that shows where threads wait.
 *
 * SWITCH records, which need no rights, have the times. sched:sched_switch adds the stack at which
 * a thread left the CPU; without it the stack of its last sample stands for that one.
 */
#include "event/off_cpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/tracefs.h"

#define EVENT "sched:sched_switch"

/* Returns the number of the tracepoint, or 0. */
static uint64_t tracepoint_number(void)
{
	const int dir = tracefs_open();
	const int fd = dir < 0 ? -1 : openat(dir, "events/sched/sched_switch/id", O_RDONLY);
	char text[32] = "";

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return strtoull(text, NULL, 10);
}

/* Found by trying it, as root of a user namespace has rights that the kernel does not accept. */
static bool is_allowed(void)
{
	const struct event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .config = tracepoint_number(), .size = 112,
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW, .flags = ATTR_DISABLED,
	};
	const int fd = attr.config ? abi_event_open(&attr, 0, -1, -1, 0) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int off_cpu_add_clock(struct event_list *l)
{
	return events_parse(l, "cpu-clock", 0) ? CLI_INPUT : 0;
}

int off_cpu_add(struct event_list *l)
{
	if (!is_allowed()) {
		log_footer(l->log, "off-CPU time from context switches, at the stack of the last "
			   "sample: tracepoints are not allowed");
		return 0;
	}
	log_footer(l->log, "off-CPU time from " EVENT ", at the stack of the switch");
	return events_parse(l, EVENT, 0) ? CLI_INPUT : 0;
}
