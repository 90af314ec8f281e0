/* cpu_groups.c - group cpus by their topology in /sys, or by lists of the user. */
#include "target/cpu_groups.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/read_text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

enum { MAX_CPUS = 1 << 16, LIST_SIZE = 4096 };

static int read_topology(const char *file, int cpu)
{
	char path[128];
	uint64_t number;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/%s", cpu, file);
	return read_text_number(AT_FDCWD, path, 10, &number) ? (int)number : cpu;
}

static int key_of_cpu(int cpu)
{
	return cpu;
}

/* A core's key is its first thread. */
static int key_of_core(int cpu)
{
	return read_topology("thread_siblings_list", cpu);
}

static int key_of_package(int cpu)
{
	return read_topology("physical_package_id", cpu);
}

/* Without nodes, or memory for their list, all cpus are in one group. */
static int key_of_node(int cpu)
{
	unsigned int *nodes = NULL;
	size_t n = 0;
	int key = 0;

	list_numbered(NODE_DIR, "node", &nodes, &n);
	for (size_t i = 0; i < n; i++) {
		char path[128], list[LIST_SIZE];

		snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", nodes[i]);
		if (read_text(AT_FDCWD, path, list, sizeof(list)) > 0 &&
		    cpu_list_has(list, (unsigned int)cpu))
			key = (int)nodes[i];
	}
	free(nodes);
	return key;
}

static int no_memory(const struct logger *log)
{
	return log_error(log, CLI_OUTPUT, "out of memory");
}

static struct cpu_group *add_group(struct cpu_groups *g)
{
	struct cpu_group *items = realloc(g->items, (g->n + 1) * sizeof(*items));

	if (!items)
		return NULL;
	g->items = items;
	items[g->n] = (struct cpu_group){ .key = 0 };
	return &items[g->n++];
}

static struct cpu_group *find_or_add_group(struct cpu_groups *g, int key)
{
	struct cpu_group *new;

	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].key == key)
			return &g->items[i];
	new = add_group(g);
	if (new)
		new->key = key;
	return new;
}

/* A thread runs on the cpus that it reads from. */
static int group_by(struct cpu_groups *g, int (*key_of)(int cpu), const struct int_list *cpus,
		    const struct logger *log)
{
	for (size_t i = 0; i < cpus->n; i++) {
		struct cpu_group *group = find_or_add_group(g, key_of(cpus->items[i]));

		if (!group || int_list_add(&group->cpus, cpus->items[i]) ||
		    int_list_add(&group->run_on, cpus->items[i]))
			return no_memory(log);
	}
	return 0;
}

/* Each ring buffer needs exactly one reader. */
static int check_groups(const struct cpu_groups *g, const struct int_list *cpus,
			const struct logger *log)
{
	for (size_t i = 0; i < cpus->n; i++) {
		size_t readers = 0;

		for (size_t j = 0; j < g->n; j++)
			readers += int_list_has(&g->items[j].cpus, cpus->items[i]);
		if (readers != 1)
			return log_error(log, CLI_USAGE, "'--threads': CPU %d is in %s",
					 cpus->items[i],
					 readers ? "more than one list" : "none of the lists");
	}
	return 0;
}

/* Parses CPUS/RUN-ON; changes the text. */
static bool parse_group(struct cpu_group *group, char *text)
{
	char *slash = strchr(text, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return int_list_parse(&group->cpus, text, MAX_CPUS) &&
	       int_list_parse(&group->run_on, slash + 1, MAX_CPUS);
}

static int group_by_lists(struct cpu_groups *g, const char *spec, const struct int_list *cpus,
			  const struct logger *log)
{
	char *copy = strdup(spec), *rest = copy, *text;
	int err = copy ? 0 : no_memory(log);

	while (!err && (text = strsep(&rest, ":"))) {
		struct cpu_group *group = add_group(g);

		if (!group)
			err = no_memory(log);
		else if (!parse_group(group, text))
			err = log_error(log, CLI_USAGE,
					"'--threads' must be cpu, core, package, numa, or lists of "
					"CPUs to read and to run on (0-3/0:4-7/4), not '%s'", spec);
	}
	free(copy);
	return err ? err : check_groups(g, cpus, log);
}

int cpu_groups_read(struct cpu_groups *g, const char *spec, const struct int_list *cpus,
		    const struct logger *log)
{
	static const struct { const char *name; int (*key_of)(int cpu); } kinds[] = {
		{ "cpu", key_of_cpu }, { "core", key_of_core }, { "package", key_of_package },
		{ "numa", key_of_node },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(spec, kinds[i].name) == 0)
			return group_by(g, kinds[i].key_of, cpus, log);
	return group_by_lists(g, spec, cpus, log);
}

static bool is_in_a_group(const struct cpu_groups *g, int cpu)
{
	for (size_t i = 0; i < g->n; i++)
		if (int_list_has(&g->items[i].cpus, cpu))
			return true;
	return false;
}

int cpu_groups_add_rest(struct cpu_groups *g, const struct int_list *cpus, const struct logger *log)
{
	for (size_t i = 0; i < cpus->n; i++)
		if (!is_in_a_group(g, cpus->items[i]) &&
		    int_list_add(&g->items[0].cpus, cpus->items[i]))
			return no_memory(log);
	return 0;
}

void cpu_groups_free(struct cpu_groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		int_list_free(&g->items[i].cpus);
		int_list_free(&g->items[i].run_on);
	}
	free(g->items);
	*g = (struct cpu_groups){ 0 };
}
