/* hostinfo_pmus.c - features of PMUs: their types, capabilities and CPUs. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/read_text.h"
#include "hostinfo/hostinfo_internal.h"

#define DEVICES "/sys/bus/event_source/devices"

static int by_type(const void *a, const void *b)
{
	const struct pd_value *x = a, *y = b;

	if (x->items[0].number != y->items[0].number)
		return x->items[0].number < y->items[0].number ? -1 : 1;
	return 0;
}

/* Three types are fixed (linux/perf_event.h); these PMUs may have no file `type`. */
static bool read_type(int devices, const char *pmu, uint64_t *type)
{
	static const struct { const char *name; uint64_t type; } fixed[] = {
		{ "software", 1 }, { "tracepoint", 2 }, { "breakpoint", 5 },
	};
	char path[NAME_MAX + 8];

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		*type = fixed[i].type;
		if (strcmp(pmu, fixed[i].name) == 0)
			return true;
	}
	snprintf(path, sizeof(path), "%s/type", pmu);
	return read_text_number(devices, path, 10, type);
}

static void list_mappings(struct host_values *h, struct host_list *list)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint64_t type;

		if (entry->d_name[0] == '.' || !read_type(dirfd(dir), entry->d_name, &type))
			continue;
		host_add(list, host_object(h, NULL, (const struct pd_value[]){
			PD_NUMBER("type", type), host_text(h, "name", entry->d_name) }, 2));
	}
	if (dir)
		closedir(dir);
	if (list->n && !h->failed)
		qsort(list->items, list->n, sizeof(*list->items), by_type);
}

static int by_name(const void *a, const void *b)
{
	const struct pd_value *x = a, *y = b;

	return strcmp((const char *)x->items[0].bytes.data, (const char *)y->items[0].bytes.data);
}

/* Only the core's PMU has capabilities among the fixed types. */
static bool may_have_capabilities(const struct pd_value *pmu)
{
	enum { RAW = 4, BREAKPOINT };

	return pmu->items[0].number > BREAKPOINT || pmu->items[0].number == RAW;
}

/* Lists the files of PMU/caps: names and values. */
static void list_capabilities(struct host_values *h, const char *pmu, struct host_list *list)
{
	char path[PATH_MAX], text[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), DEVICES "/%s/caps", pmu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    read_text(dirfd(dir), entry->d_name, text, sizeof(text)) < 0)
			continue;
		host_add(list, host_object(h, NULL, (const struct pd_value[]){
			host_text(h, "name", entry->d_name), host_text(h, "value", text) }, 2));
	}
	if (dir)
		closedir(dir);
	if (list->n && !h->failed)
		qsort(list->items, list->n, sizeof(*list->items), by_name);
}

static bool is_core(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "cpu_core") == 0 ||
	       strcmp(name, "cpu_atom") == 0 || strcmp(name, "cpu_lowpower") == 0;
}

/* The capabilities of PMU `cpu`, on machines with one kind of cores, are feature CPU_PMU_CAPS; all
 * others are in PMU_CAPS. */
static int write_capabilities(struct pd_writer *w, struct host_values *h,
			      const struct host_list *pmus, struct pd_error *e)
{
	struct host_list others = { .h = h }, hybrid = { .h = h };

	for (size_t i = 0; i < pmus->n; i++) {
		const char *name = (const char *)pmus->items[i].items[1].bytes.data;
		struct host_list list = { .h = h };
		char path[PATH_MAX], cpus[4096];

		if (may_have_capabilities(&pmus->items[i]))
			list_capabilities(h, name, &list);
		if (strcmp(name, "cpu") == 0) {
			if (list.n && host_feature(w, h, PD_FEATURE_CPU_PMU_CAPS,
						   host_array(&list, NULL), e) != 0)
				return -1;
			continue;
		}
		if (list.n)
			host_add(&others, host_object(h, NULL, (const struct pd_value[]){
				host_array(&list, "caps"), host_text(h, "pmu_name", name) }, 2));
		snprintf(path, sizeof(path), DEVICES "/%s/cpus", name);
		if (is_core(name) && read_text(AT_FDCWD, path, cpus, sizeof(cpus)) > 0)
			host_add(&hybrid, host_object(h, NULL, (const struct pd_value[]){
				host_text(h, "pmu_name", name), host_text(h, "cpus", cpus) }, 2));
	}
	if (hybrid.n &&
	    host_feature(w, h, PD_FEATURE_HYBRID_TOPOLOGY, host_array(&hybrid, NULL), e) != 0)
		return -1;
	return host_feature(w, h, PD_FEATURE_PMU_CAPS, host_array(&others, NULL), e);
}

int hostinfo_pmus(struct pd_writer *w, struct host_values *h, struct pd_error *e)
{
	struct host_list list = { .h = h };
	bool is_whole;

	list_mappings(h, &list);
	is_whole = !h->failed;
	if (list.n == 0 && is_whole)
		return 0;
	if (host_feature(w, h, PD_FEATURE_PMU_MAPPINGS, host_array(&list, NULL), e) != 0)
		return -1;
	return is_whole ? write_capabilities(w, h, &list, e) : 0;
}
