/* hostinfo_cache.c - feature CACHE: CPU caches and the CPUs that share them. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/read_text.h"
#include "hostinfo/hostinfo_internal.h"

#define CPUS "/sys/devices/system/cpu"
#define MAX_CACHES 16		/* of a CPU, and cache levels */

enum { LEVEL, LINE_SIZE, SETS, WAYS, TYPE, SIZE, MAP, ROWS };

struct cache {
	struct cache *next;
	unsigned int index;		/* in the CPU's directory */
	struct pd_value v[ROWS];
};

struct caches {
	struct host_values *h;
	struct cache *first, **end;
	bool uniform;			/* all cores have the same L1 and L2 caches */
};

static bool has_cpu(const struct cache *c, unsigned int cpu)
{
	return cpu_list_has((const char *)c->v[MAP].bytes.data, cpu);
}

/* Reads everything but the map. */
static void read_rows(struct host_values *h, const char *directory, struct pd_value *v)
{
	static const char *const names[] = { "level", "line_size", "sets", "ways", "type", "size" };
	static const char *const files[] = {
		"level", "coherency_line_size", "number_of_sets", "ways_of_associativity", "type",
		"size",
	};
	char text[64], path[128];

	for (size_t i = LEVEL; i <= WAYS; i++) {
		uint64_t value = 0;

		snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		read_text_number(AT_FDCWD, path, 10, &value);
		v[i] = (struct pd_value)PD_NUMBER(names[i], value);
	}
	for (size_t i = TYPE; i <= SIZE; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		if (read_text(AT_FDCWD, path, text, sizeof(text)) < 0)
			text[0] = '\0';
		v[i] = host_text(h, names[i], text);
	}
}

/* Returns a cache of another CPU from which the rows of the one at `index` can be copied; NULL:
 * none. */
static const struct cache *find_model(const struct caches *all, unsigned int index)
{
	for (const struct cache *c = all->first; c && all->uniform; c = c->next)
		if (c->index == index && c->v[LEVEL].number <= 2)
			return c;
	return NULL;
}

/* If cores are uniform, the first one shows how many caches each has. */
static bool is_past_last(const struct caches *all, unsigned int cpu, unsigned int index)
{
	bool more = cpu == 0 || !all->uniform;

	for (const struct cache *c = all->first; c && !more; c = c->next)
		more = c->index >= index;
	return !more;
}

/* Adds the cache unless it is known. Returns false if the CPU has none at this index. */
static bool add_cache(struct caches *all, unsigned int cpu, unsigned int index)
{
	const struct cache *model = find_model(all, index);
	char path[96], file[128], map[8192];
	struct cache *c;

	for (c = all->first; c; c = c->next)
		if (c->index == index && has_cpu(c, cpu))
			return true;
	if (is_past_last(all, cpu, index))
		return false;
	snprintf(path, sizeof(path), CPUS "/cpu%u/cache/index%u", cpu, index);
	snprintf(file, sizeof(file), "%s/shared_cpu_list", path);
	if (read_text(AT_FDCWD, file, map, sizeof(map)) < 0)
		return false;
	c = host_alloc(all->h, sizeof(*c));
	if (!c)
		return false;
	c->index = index;
	if (model)
		memcpy(c->v, model->v, sizeof(c->v));
	else
		read_rows(all->h, path, c->v);
	c->v[MAP] = host_text(all->h, "map", map);
	*all->end = c;
	all->end = &c->next;
	return true;
}

/* Cores of one kind differ only in caches above L2. Hybrid x86 machines have a PMU cpu_atom. */
static bool cores_are_uniform(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return access("/sys/bus/event_source/devices/cpu_atom", F_OK) != 0;
#else
	return false;
#endif
}

int hostinfo_caches(struct pd_writer *w, struct host_values *h, unsigned int available,
		    struct pd_error *e)
{
	struct caches all = { .h = h, .uniform = cores_are_uniform() };
	struct host_list list = { .h = h };
	struct pd_value v[2] = { PD_NUMBER("version", 1) };

	all.end = &all.first;
	for (unsigned int cpu = 0; cpu < available; cpu++)
		for (unsigned int i = 0; i < MAX_CACHES && add_cache(&all, cpu, i); i++)
			;
	for (uint64_t level = 0; level < MAX_CACHES; level++)
		for (struct cache *c = all.first; c; c = c->next)
			if (c->v[LEVEL].number == level)
				host_add(&list, host_object(h, NULL, c->v, ROWS));
	if (list.n == 0)
		return 0;
	v[1] = host_array(&list, "caches");
	return host_feature(w, h, PD_FEATURE_CACHE, host_object(h, NULL, v, 2), e);
}
