/* history_live.c - the tasks and spaces of a live stream: see history_live.h. The rules are those
 * of history_tasks.c and history_spaces.c, applied to the last life of a thread and the last space
 * of a process only. */
#include "model/history_live.h"

#define ROUNDS_KEPT 2	/* tasks are sampled after their end: buffers of two rounds may overlap */
#define KEPT_SHARE 4	/* nothing is forgotten before this part of the memory is in use */
#define STEPS 64	/* at least this part of it later, tasks are forgotten again */

struct live_task {
	uint32_t tid, pid, ppid, ptid;
	uint32_t comm, ns;		/* PD_NOTHING: not known */
	uint32_t execs;
	bool was_there, has_ended;
	uint8_t machine;
	uint64_t start, end, named;	/* times; PD_NO_TIME */
	uint64_t end_round;
};

struct live_space {
	uint64_t key;
	uint64_t since;			/* time of the fork or exec */
	struct pd_mapped *ranges;
	bool had_task, is_used;
};

/* Where a record is. Those of one compressed record have the same offset. */
struct place {
	uint64_t offset, inner;
};

struct pd_live {
	struct pd_budget *budget;
	struct pd_map tasks, spaces;	/* by key: struct live_task;: struct live_space */
	struct pd_range_pool pool;
	uint64_t now;			/* the latest time of all records */
	struct place learned_to;	/* the last change */
	struct place untimed_to;	/* the last one in the recording without a time */
	uint64_t round;
	uint64_t late, forgotten, untimed;
	uint64_t next_forget;		/* memory in use at which tasks are forgotten */
};

struct pd_live *pd_live_new(struct pd_history *h)
{
	struct pd_live *l = pd_budget_alloc(&h->budget, sizeof(*l));

	if (!l)
		return NULL;
	l->budget = l->tasks.budget = l->spaces.budget = l->pool.budget = &h->budget;
	l->pool.random = h->seed | 1;
	l->next_forget = h->memory_limit / KEPT_SHARE;
	return l;
}

static void free_task(void *ctx, uint64_t key, void *value)
{
	struct pd_live *l = ctx;

	(void)key;
	pd_budget_free(l->budget, value, sizeof(struct live_task));
}

static void free_space(void *ctx, uint64_t key, void *value)
{
	struct pd_live *l = ctx;
	struct live_space *s = value;

	(void)key;
	pd_ranges_free(&l->pool, s->ranges);
	pd_budget_free(l->budget, s, sizeof(*s));
}

void pd_live_free(struct pd_live *l)
{
	if (!l)
		return;
	pd_map_each(&l->tasks, free_task, l);
	pd_map_each(&l->spaces, free_space, l);
	pd_map_free(&l->tasks);
	pd_map_free(&l->spaces);
	pd_budget_free(l->budget, l, sizeof(*l));
}

/* Returns whether records of this type change tasks or maps. */
static bool is_change(uint32_t type)
{
	return type == PD_RECORD_MMAP || type == PD_RECORD_MMAP2 || type == PD_RECORD_COMM ||
	       type == PD_RECORD_FORK || type == PD_RECORD_EXIT ||
	       type == PD_RECORD_NAMESPACES || type == PD_RECORD_KSYMBOL;
}

static struct place place_of(const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	return (struct place){ f->offset, f->inner_offset == PD_OUTER ? 0 : f->inner_offset };
}

static bool precedes(const struct pd_record *r, struct place other)
{
	const struct place own = place_of(r);

	return own.offset < other.offset ||
	       (own.offset == other.offset && own.inner < other.inner);
}

/* Where the side-band has no times, samples are in order if they follow what was learned. */
static bool is_late(const struct pd_history *h, const struct pd_record *r, uint64_t time)
{
	if (!h->has_times)
		return r->frame.type == PD_RECORD_SAMPLE && precedes(r, h->live->learned_to);
	if (r->frame.type == PD_RECORD_SAMPLE && time == PD_NO_TIME)
		return false;
	return (time == PD_NO_TIME ? 0 : time) < h->live->now;
}

/* A change without a time has that of the latest one before it in the recording, which must not
 * come after it. */
static bool is_overtaken(const struct pd_history *h, const struct pd_record *r, uint64_t time)
{
	return h->has_times && time != PD_NO_TIME && precedes(r, h->live->untimed_to);
}

void pd_live_see(struct pd_history *h, const struct pd_record *r)
{
	struct pd_live *l = h->live;
	uint64_t time;

	l->round += r->frame.type == PD_RECORD_FINISHED_ROUND;
	l->late += r->frame.type == PD_RECORD_CALLCHAIN_DEFERRED;	/* its sample is gone */
	if (r->frame.type != PD_RECORD_SAMPLE && !is_change(r->frame.type))
		return;
	if (!pd_record_hot_time(r, &time))
		time = PD_NO_TIME;
	l->late += is_overtaken(h, r, time);
	if (is_late(h, r, time))
		l->late++;
	else if (time != PD_NO_TIME && time > l->now)	/* where changes have no times, too: some
							 * later one may */
		l->now = time;
	if (r->frame.type == PD_RECORD_SAMPLE)
		l->untimed += time == PD_NO_TIME;
	else
		l->learned_to = place_of(r);
	if (r->frame.type != PD_RECORD_SAMPLE && time == PD_NO_TIME &&
	    !precedes(r, l->untimed_to))
		l->untimed_to = place_of(r);
}

/* --- tasks --- */

static struct live_task *begin_life(struct pd_live *l, struct live_task *t,
				    const struct pd_change *c, uint64_t start)
{
	const bool is_new = !t;

	t = t ? t : pd_budget_alloc(l->budget, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct live_task){ .tid = c->tid, .pid = c->pid,
				 .machine = (uint8_t)c->machine, .ppid = PD_NOTHING,
				 .ptid = PD_NOTHING, .comm = PD_NOTHING, .ns = PD_NOTHING,
				 .start = start, .end = PD_NO_TIME,
				 .was_there = is_new && c->kind != PD_CHANGE_FORK };
	if (t->was_there)
		t->start = PD_NO_TIME;
	if (!is_new || pd_map_add(&l->tasks, pd_task_key(t->machine, t->tid), t) == 0)
		return t;
	pd_budget_free(l->budget, t, sizeof(*t));
	return NULL;
}

static bool begins_life(const struct live_task *t, const struct pd_change *c)
{
	return !t || c->kind == PD_CHANGE_FORK || (t->has_ended && c->kind != PD_CHANGE_EXIT) ||
	       t->pid != c->pid;
}

/* A new task has its parent's name. */
static void inherit_name(const struct pd_live *l, struct live_task *t)
{
	const struct live_task *parent = t->ptid == t->tid ? NULL :
		pd_map_find(&l->tasks, pd_task_key(t->machine, t->ptid));

	if (parent && parent->pid == t->ppid)
		t->comm = parent->comm;
}

static uint64_t time_of(const struct pd_change *c)
{
	return c->time == PD_NO_TIME ? 0 : c->time;
}

/* Returns whether a change is older than what is known of its thread. */
static bool is_outdated(const struct live_task *t, const struct pd_change *c)
{
	const uint64_t time = time_of(c);

	if (!t)
		return false;
	if (t->start != PD_NO_TIME && time < t->start)
		return true;
	return (c->kind == PD_CHANGE_COMM || c->kind == PD_CHANGE_EXEC) && time < t->named;
}

static int apply_to_task(struct pd_live *l, const struct pd_change *c)
{
	struct live_task *t = pd_map_find(&l->tasks, pd_task_key(c->machine, c->tid));

	if (is_outdated(t, c))
		return 0;
	if (begins_life(t, c))
		t = begin_life(l, t, c, c->time);
	if (!t)
		return -1;
	switch ((enum pd_change_kind)c->kind) {
	case PD_CHANGE_FORK:
	case PD_CHANGE_THERE:
		t->ppid = c->ppid;
		t->ptid = c->ptid;
		if (c->kind == PD_CHANGE_FORK)
			inherit_name(l, t);
		break;
	case PD_CHANGE_EXEC:
	case PD_CHANGE_COMM:
		t->execs += c->kind == PD_CHANGE_EXEC;
		t->comm = c->item;
		t->named = time_of(c);
		break;
	case PD_CHANGE_NAMESPACES:
		t->ns = c->item;
		break;
	case PD_CHANGE_EXIT:
		t->has_ended = true;
		t->end = t->end == PD_NO_TIME ? c->time : t->end;
		t->end_round = l->round;
		break;
	case PD_CHANGE_MAP:
		break;
	}
	return 0;
}

/* --- spaces --- */

/* Returns the space of a key, which begins now if it is not known; NULL without memory. */
static struct live_space *space_of(struct pd_live *l, uint64_t key)
{
	struct live_space *s = pd_map_find(&l->spaces, key);

	if (s)
		return s;
	s = pd_budget_alloc(l->budget, sizeof(*s));
	if (!s)
		return NULL;
	s->key = key;
	if (pd_map_add(&l->spaces, key, s) == 0)
		return s;
	pd_budget_free(l->budget, s, sizeof(*s));
	return NULL;
}

static bool begins_space(const struct pd_change *c)
{
	return c->kind == PD_CHANGE_EXEC ||
	       ((c->kind == PD_CHANGE_FORK || c->kind == PD_CHANGE_THERE) && c->pid != c->ppid);
}

static int apply_to_process(struct pd_live *l, const struct pd_change *c)
{
	const uint64_t key = pd_space_key(c->machine, PD_SPACE_OF_PROCESS, c->pid);
	const bool was_there = pd_map_find(&l->spaces, key);
	struct live_space *s = space_of(l, key);
	const struct live_space *parent;
	struct pd_mapped *shared = NULL;

	if (!s)
		return -1;
	s->had_task = true;
	if (!begins_space(c) || (c->kind == PD_CHANGE_THERE && !was_there) ||
	    time_of(c) < s->since)
		return 0;
	if (c->kind == PD_CHANGE_FORK) {
		parent = pd_map_find(&l->spaces, pd_space_key(c->machine, PD_SPACE_OF_PROCESS,
							      c->ppid));
		shared = parent ? pd_ranges_share(parent->ranges) : NULL;
	}
	pd_ranges_free(&l->pool, s->ranges);
	s->ranges = shared;
	s->since = time_of(c);
	return 0;
}

/* A map that comes late fills a gap only: what is there may be newer. */
static int apply_map(struct pd_live *l, const struct pd_change *c, const struct pd_learned_map *m,
		     bool is_late)
{
	struct live_space *s = space_of(l, pd_space_key(m->machine, m->space_of, m->pid));

	if (!s)
		return -1;
	if (m->start >= pd_map_end(m) ||
	    (is_late && (time_of(c) < s->since || pd_ranges_overlap(s->ranges, m))))
		return 0;
	s->ranges = pd_ranges_map(&l->pool, s->ranges, m);
	return l->pool.is_full ? -1 : 0;
}

/* --- memory --- */

/* The tasks and spaces that stay while others are forgotten. */
struct survivors {
	struct pd_live *live;
	struct pd_map tasks, spaces;
	bool failed;
};

static bool is_over(const struct pd_live *l, const struct live_task *t)
{
	return t->has_ended && l->round - t->end_round >= ROUNDS_KEPT;
}

static void keep_task(void *ctx, uint64_t key, void *value)
{
	struct survivors *s = ctx;
	const struct live_task *t = value;
	struct live_space *space =
		pd_map_find(&s->live->spaces,
			    pd_space_key(t->machine, PD_SPACE_OF_PROCESS, t->pid));

	if (is_over(s->live, t))
		return;
	s->failed |= pd_map_add(&s->tasks, key, value) != 0;
	if (space)
		space->is_used = true;
}

static bool is_space_over(const struct live_space *s)
{
	return s->had_task && !s->is_used;
}

static void keep_space(void *ctx, uint64_t key, void *value)
{
	struct survivors *s = ctx;

	if (!is_space_over(value))
		s->failed |= pd_map_add(&s->spaces, key, value) != 0;
}

static void forget_task(void *ctx, uint64_t key, void *value)
{
	struct survivors *s = ctx;

	if (!is_over(s->live, value))
		return;
	s->live->forgotten++;
	free_task(s->live, key, value);
}

static void forget_space(void *ctx, uint64_t key, void *value)
{
	struct survivors *s = ctx;
	struct live_space *space = value;

	if (is_space_over(space))
		free_space(s->live, key, space);
	else
		space->is_used = false;
}

/* All steps together take linear time. */
static uint64_t next_forget(const struct pd_budget *b)
{
	const uint64_t free = b->limit > b->used ? b->limit - b->used : 0, step = b->limit / STEPS;
	const uint64_t room = b->used < free / 2 ? b->used : free / 2;

	return b->used + (room > step ? room : step);
}

static void forget_ended_tasks(struct pd_history *h)
{
	struct pd_live *l = h->live;
	struct survivors s = { .live = l, .tasks.budget = l->budget, .spaces.budget = l->budget };

	pd_map_each(&l->tasks, keep_task, &s);
	pd_map_each(&l->spaces, keep_space, &s);
	if (s.failed) {
		pd_map_free(&s.tasks);
		pd_map_free(&s.spaces);
	} else {
		pd_map_each(&l->spaces, forget_space, &s);
		pd_map_each(&l->tasks, forget_task, &s);
		pd_map_free(&l->tasks);
		pd_map_free(&l->spaces);
		l->tasks = s.tasks;
		l->spaces = s.spaces;
	}
	l->next_forget = next_forget(&h->budget);
}

int pd_live_apply(struct pd_history *h)
{
	struct pd_live *l = h->live;
	const struct pd_change *c = h->changes.items;
	int ret = 0;

	l->pool.is_full = false;
	for (uint32_t i = 0; i < h->changes.nr; i++, c++) {
		if (c->kind == PD_CHANGE_MAP)
			ret |= apply_map(l, c, pd_map_at(h, c->item), time_of(c) < l->now);
		else
			ret |= apply_to_task(l, c) | apply_to_process(l, c);
	}
	h->nr_changes += h->changes.nr;
	h->changes.nr = h->maps.nr = 0;
	if (h->budget.used > l->next_forget)
		forget_ended_tasks(h);
	return ret;
}

void pd_live_drop(struct pd_history *h)
{
	h->changes.nr = h->maps.nr = 0;
	forget_ended_tasks(h);
}

/* --- answers --- */

const struct pd_mapped *pd_live_space(const struct pd_live *l, uint64_t key, bool *is_known)
{
	const struct live_space *s = pd_map_find(&l->spaces, key);

	*is_known = s;
	return s ? s->ranges : NULL;
}

bool pd_live_task(const struct pd_history *h, uint8_t machine, int32_t pid, int32_t tid,
		  struct pd_task *out)
{
	const struct live_task *t = pd_map_find(&h->live->tasks,
						pd_task_key(machine, (uint32_t)tid));

	if (!t || (pid != -1 && t->pid != (uint32_t)pid))
		return false;
	*out = (struct pd_task){
		.pid = (int32_t)t->pid, .tid = tid, .ppid = (int32_t)t->ppid,
		.ptid = (int32_t)t->ptid, .start = t->start, .end = t->end, .execs = t->execs,
		.cpu = -1,
		.flags = (t->was_there ? PD_TASK_WAS_THERE : 0) |
			 (t->tid == t->pid ? PD_TASK_LEADER : 0),
		.comm = t->comm == PD_NOTHING ? NULL : ((const char **)h->comms.items)[t->comm],
		.namespaces = t->ns == PD_NOTHING ? NULL :
			      ((const struct pd_namespaces **)h->namespaces.items)[t->ns],
	};
	return true;
}

void pd_live_count(const struct pd_history *h, struct pd_history_counts *out)
{
	const struct pd_live *l = h->live;

	out->late = l->late;
	out->forgotten = l->forgotten;
	out->untimed = h->has_times ? l->untimed : 0;
	out->spaces = l->spaces.used;
}
