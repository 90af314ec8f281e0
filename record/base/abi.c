/* abi.c - perf_event_open(2) and its attributes. */
#include "base/abi.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int abi_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
		   unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

unsigned int attr_precise_ip(const struct event_attr *attr)
{
	return (attr->flags & ATTR_PRECISE_IP) >> ATTR_PRECISE_SHIFT;
}

void attr_set_precise_ip(struct event_attr *attr, unsigned int level)
{
	attr->flags = (attr->flags & ~ATTR_PRECISE_IP) | (uint64_t)level << ATTR_PRECISE_SHIFT;
}

uint32_t attr_size_needed(const struct event_attr *attr)
{
	if (attr->config4)
		return 144;
	if (attr->config3)
		return 136;
	if (attr->sig_data)
		return 128;
	if (attr->aux_sample_size || attr->aux_action)
		return 120;
	return 112;
}
