/* cpu_groups.h - --threads: which thread reads the buffers of which cpus, and where it runs. */
#ifndef RECORD_CPU_GROUPS_H
#define RECORD_CPU_GROUPS_H

#include "base/log.h"
#include "base/parse.h"

struct cpu_group {
	struct int_list cpus, run_on;
	int key;			/* of its core, package or node */
};

struct cpu_groups {
	struct cpu_group *items;
	size_t n;
};

/* spec: cpu, core, package, numa, or CPUS/RUN-ON:...; every one of `cpus` is in one group then. 0;
 * or an exit status after saying what is wrong. */
int cpu_groups_read(struct cpu_groups *g, const char *spec, const struct int_list *cpus,
		    const struct logger *log);
/* The cpus that are in no group join the first. 0; or an exit status after saying what is wrong. */
int cpu_groups_add_rest(struct cpu_groups *g, const struct int_list *cpus, const struct logger *log);
void cpu_groups_free(struct cpu_groups *g);

#endif
