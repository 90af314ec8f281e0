/* cpu_groups.h - --threads: which ring buffers each thread reads, and on which cpus it runs. */
#ifndef RECORD_CPU_GROUPS_H
#define RECORD_CPU_GROUPS_H

#include "base/log.h"
#include "base/parse.h"

struct cpu_group {
	struct int_list cpus, run_on;
	int key;			/* number of the core, package or node */
};

struct cpu_groups {
	struct cpu_group *items;
	size_t n;
};

/* Puts each of `cpus` into one group. spec: cpu, core, package, numa, or CPUS/RUN-ON:... Returns
 * 0, or an exit status after logging the error. */
int cpu_groups_read(struct cpu_groups *g, const char *spec, const struct int_list *cpus,
		    const struct logger *log);
/* Adds the cpus that are in no group to the first. Returns 0, or an exit status after logging the
 * error. */
int cpu_groups_add_rest(struct cpu_groups *g, const struct int_list *cpus,
			const struct logger *log);
void cpu_groups_free(struct cpu_groups *g);

#endif
