/* mappers.c - which processes mapped an image, and where: while they run, its file is below their
 * roots, or at least mapped; and whether its path names another file here, because they run in
 * other mount namespaces. */
#include <string.h>

#include "session/session.h"

enum {
	MOUNT = 5,		/* of pd_namespaces.of */
	GENERATIONS = 3,	/* of children that share the maps of a process that has ended */
};

static bool is_same(const struct ps_namespace *a, const struct ps_namespace *b)
{
	return a->inode == b->inode && a->dev == b->dev;
}

static bool mount_namespace_of(const struct pd_task *t, struct ps_namespace *out)
{
	if (!t->namespaces || t->namespaces->count <= MOUNT || !t->namespaces->of[MOUNT].inode)
		return false;
	*out = (struct ps_namespace){ t->namespaces->of[MOUNT].dev,
				      t->namespaces->of[MOUNT].inode };
	return true;
}

/* Finds the namespace that the paths of this machine are of: the caller's, if the recording has
 * it, else that of process 1. Keeps a child of each process. */
static void read_tasks(struct ps_session *s)
{
	const struct ps_namespace *own = &s->options.mount_namespace;
	struct ps_mapped_by *m = &s->mapped_by;
	struct ps_namespace found;
	struct pd_task t;

	for (size_t i = pd_history_nr_tasks(s->options.history); i-- > 0;) {
		pd_history_task_at(s->options.history, i, &t);
		if (t.machine_pid || t.pid != t.tid)
			continue;
		if (t.ppid > 0)
			pd_map_add(&m->children, (uint64_t)t.ppid, (void *)(uintptr_t)t.pid);
		if (!mount_namespace_of(&t, &found))
			continue;
		if (is_same(own, &found) || (t.pid == 1 && !m->host.inode))
			m->host = found;
	}
}

static void note_namespace(const struct ps_session *s, const struct pd_mapping *map,
			   struct ps_mappers *to)
{
	const struct pd_moment at = { .time = map->time, .offset = UINT64_MAX };
	const struct ps_namespace *host = &s->mapped_by.host;
	struct ps_namespace found;
	struct pd_task t;

	if (!host->inode || !pd_history_task(s->options.history, map->pid, map->pid, -1, &at, &t) ||
	    !mount_namespace_of(&t, &found))
		return;
	to->is_here = to->is_here || is_same(host, &found);
	to->is_elsewhere = to->is_elsewhere || !is_same(host, &found);
}

/* The latest is first. Data that is mapped as well is often in several parts by now. */
static void note_process(struct ps_mappers *to, const struct pd_mapping *map)
{
	struct ps_mapper latest = { .pid = map->pid, .start = map->start,
				    .end = map->start + map->len };
	size_t i = 0;

	while (i < to->nr && to->of[i].pid != map->pid)
		i++;
	if (i < to->nr && map->is_data)
		latest = to->of[i];
	if (i == to->nr && to->nr < PS_MAPPERS)
		to->nr++;
	if (i == PS_MAPPERS)
		i--;
	memmove(to->of + 1, to->of, i * sizeof(*to->of));
	to->of[0] = latest;
}

static void read_mappings(struct ps_session *s)
{
	struct pd_mapping map;

	for (size_t i = 0; pd_history_mapping(s->options.history, i, &map); i++) {
		if (map.pid <= 0 || map.machine_pid || map.image >= s->nr_images)
			continue;
		note_process(&s->mapped_by.images[map.image], &map);
		note_namespace(s, &map, &s->mapped_by.images[map.image]);
	}
}

static struct ps_mappers *mappers_of(struct ps_session *s, uint32_t image)
{
	struct ps_mapped_by *m = &s->mapped_by;

	if (!m->tried) {
		m->tried = true;
		m->children.budget = &s->budget;
		m->images = pd_budget_alloc(&s->budget, s->nr_images * sizeof(*m->images));
		if (m->images) {
			read_tasks(s);
			read_mappings(s);
		}
	}
	return m->images ? &m->images[image] : NULL;
}

/* A daemon's first process has ended, and its children share its maps. */
size_t ps_session_mappers(struct ps_session *s, uint32_t image,
			  struct ps_mapper out[PS_MAPPERS_MOST])
{
	const struct ps_mappers *m = mappers_of(s, image);
	size_t n = 0;

	for (size_t i = 0; m && i < m->nr; i++) {
		uintptr_t pid = (uintptr_t)m->of[i].pid;

		for (int hops = 0; pid && n < PS_MAPPERS_MOST && hops <= GENERATIONS; hops++) {
			out[n] = m->of[i];
			out[n++].pid = (int32_t)pid;
			pid = (uintptr_t)pd_map_find(&s->mapped_by.children, pid);
		}
	}
	return n;
}

bool ps_session_is_foreign(struct ps_session *s, uint32_t image)
{
	const struct ps_mappers *m = mappers_of(s, image);

	return m && m->is_elsewhere && !m->is_here;
}

void ps_session_free_mappers(struct ps_session *s)
{
	pd_budget_free(&s->budget, s->mapped_by.images,
		       s->nr_images * sizeof(*s->mapped_by.images));
	pd_map_free(&s->mapped_by.children);
}
