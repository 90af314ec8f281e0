/* filter.c - selects records by type, task, cpu, time and event. */
#include "base/argument.h"
#include "model/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/history_guests.h"

#define OWN_MEMORY (64u << 20)
#define NOBODY UINT32_MAX	/* the pid -1 */

/* A pd_ranges that the filter owns. */
struct ranges {
	struct pd_range *items;
	size_t count;
};

struct globs {
	char **items;
	size_t count;
};

/* Whether an event's name is wanted; determined once for each name it has. */
struct wanted {
	uint32_t generation;
	enum { NOT_ASKED, WANTED, UNWANTED } answer;
};

/* The answer for a name that a history returned; its pointer is the key. */
#define COMM_ANSWERS 64
struct comm_answer {
	const char *comm;
	bool wanted;
};

struct pd_filter {
	struct ranges types, pids, tids, cpus;
	struct globs comms, events;
	struct pd_range time;
	bool any_time;
	uint64_t dropped, samples;	/* records dropped, SAMPLE records kept */
	struct pd_budget budget;	/* for what grows with the input */
	struct pd_arena arena;
	struct pd_map named;		/* tid -> bool *: has a wanted name; no entry: never had
					 * one */
	const struct pd_history *history;
	struct pd_sample_test test;
	struct comm_answer answers[COMM_ANSWERS];
	struct wanted *wanted;		/* by the event's index */
	size_t nr_wanted;
};

static int copy_ranges(struct ranges *to, struct pd_ranges from)
{
	if (!from.count)
		return 0;
	to->items = from.items ? calloc(from.count, sizeof(*to->items)) : NULL;
	if (!to->items)
		return -1;
	memcpy(to->items, from.items, from.count * sizeof(*to->items));
	to->count = from.count;
	return 0;
}

static int copy_globs(struct globs *to, struct pd_globs from)
{
	if (!from.count)
		return 0;
	to->items = from.items ? calloc(from.count, sizeof(*to->items)) : NULL;
	if (!to->items)
		return -1;
	for (; to->count < from.count; to->count++) {
		const char *glob = from.items[to->count];

		to->items[to->count] = glob ? strdup(glob) : NULL;
		if (!to->items[to->count])
			return -1;
	}
	return 0;
}

static void free_globs(struct globs *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->items[i]);
	free(g->items);
}

static void free_given(struct pd_filter *f)
{
	free(f->types.items);
	free(f->pids.items);
	free(f->tids.items);
	free(f->cpus.items);
	free_globs(&f->comms);
	free_globs(&f->events);
}

struct pd_filter *pd_filter_new(const struct pd_filter_options *given)
{
	struct pd_filter_options o = { .size = 0 };
	struct pd_filter *f;

	if (given && pd_options_take(&o, sizeof(o), given, given->size))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->budget.limit = OWN_MEMORY;
	f->arena.budget = f->named.budget = &f->budget;
	f->any_time = !o.time;
	if (o.time)
		f->time = *o.time;
	if (copy_ranges(&f->types, o.types) || copy_ranges(&f->pids, o.pids) ||
	    copy_ranges(&f->tids, o.tids) || copy_ranges(&f->cpus, o.cpus) ||
	    copy_globs(&f->comms, o.comms) || copy_globs(&f->events, o.events)) {
		pd_filter_free(f);
		return NULL;
	}
	return f;
}

void pd_filter_free(struct pd_filter *f)
{
	if (!f)
		return;
	free_given(f);
	pd_map_free(&f->named);
	pd_arena_free(&f->arena);
	pd_budget_free(&f->budget, f->wanted, f->nr_wanted * sizeof(*f->wanted));
	free(f);
}

void pd_filter_set_time(struct pd_filter *f, struct pd_range ns)
{
	if (!f)
		return;
	f->any_time = false;
	f->time = ns;
}

struct pd_range pd_filter_take_time(struct pd_filter *f)
{
	const struct pd_range any = { 0, UINT64_MAX };

	if (!f || f->any_time)
		return any;
	f->any_time = true;
	return f->time;
}

void pd_filter_set_history(struct pd_filter *f, const struct pd_history *h)
{
	if (f)
		f->history = h;
}

void pd_filter_set_test(struct pd_filter *f, struct pd_sample_test test)
{
	if (f)
		f->test = test;
}

bool pd_filter_has_test(const struct pd_filter *f)
{
	return f && f->test.keeps;
}

uint64_t pd_filter_dropped(const struct pd_filter *f)
{
	return f ? f->dropped : 0;
}

uint64_t pd_filter_samples(const struct pd_filter *f)
{
	return f ? f->samples : 0;
}

static bool in_ranges(const struct ranges *r, uint64_t n)
{
	for (size_t i = 0; i < r->count; i++)
		if (n >= r->items[i].from && n <= r->items[i].to)
			return true;
	return r->count == 0;
}

/* A name that has a bracket or an asterisk itself also matches as it is. */
static bool matches_any(const struct globs *g, const char *text)
{
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->items[i], text) == 0 || fnmatch(g->items[i], text, 0) == 0)
			return true;
	return g->count == 0;
}

static bool matches_bytes(const struct globs *g, struct pd_bytes text)
{
	char copy[512];	/* names of threads have 15 bytes, those of events rarely more than a
			 * line */
	size_t n = text.size < sizeof(copy) ? text.size : sizeof(copy) - 1;

	memcpy(copy, text.data, n);
	copy[n] = '\0';
	return matches_any(g, copy);
}

/* Returns whether the trailer has values: perf leaves it empty in synthesized records. */
static bool trailer_counts(const struct pd_record *r)
{
	uint64_t time;

	if (!r->trailer)
		return false;
	if (pd_record_number(r, PD_OF_TRAILER, PD_HOT_TIME, &time))
		return time != 0;
	return !pd_all_zero(r->trailer_bytes);
}

static bool task_number(const struct pd_record *r, enum pd_hot which, uint32_t *out)
{
	uint64_t n;

	if (!pd_record_number(r, PD_OF_BODY, which, &n) &&
	    !(trailer_counts(r) && pd_record_number(r, PD_OF_TRAILER, which, &n)))
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool moment_number(const struct pd_record *r, enum pd_hot which, uint64_t *out)
{
	if (r->trailer)
		return trailer_counts(r) && pd_record_number(r, PD_OF_TRAILER, which, out);
	return pd_record_number(r, PD_OF_BODY, which, out);
}

/* Thread 0 is an idle CPU and is not named by records. */
static bool has_name(const struct pd_filter *f, uint32_t tid)
{
	const bool *named = pd_map_find(&f->named, tid);

	return named ? *named : tid == 0 && matches_any(&f->comms, "swapper");
}

static int set_name(struct pd_filter *f, uint32_t tid, bool wanted)
{
	bool *named = pd_map_find(&f->named, tid);

	if (!named && (wanted || tid == 0)) {
		named = pd_arena_alloc(&f->arena, sizeof(*named));
		if (!named || pd_map_add(&f->named, tid, named) < 0)
			return -1;
	}
	if (named)
		*named = wanted;
	return 0;
}

/* Updates the names of threads from COMM and FORK. */
static int update_name(struct pd_filter *f, const struct pd_record *r)
{
	uint64_t tid, parent;
	struct pd_bytes comm;
	const enum pd_names_thread names =
		r->frame.desc ? r->frame.desc->names_thread : PD_NAMES_NO_THREAD;

	if (names == PD_NAMES_THREAD && pd_record_number(r, PD_OF_BODY, PD_HOT_TID, &tid) &&
	    pd_record_get_text(r, "comm", &comm))
		return set_name(f, (uint32_t)tid, matches_bytes(&f->comms, comm));
	if (names == PD_NAMES_CHILD && pd_record_number(r, PD_OF_BODY, PD_HOT_TID, &tid) &&
	    pd_record_get_number(r, "ptid", &parent))
		return set_name(f, (uint32_t)tid, has_name(f, (uint32_t)parent));
	return 0;
}

static bool matches_comm(struct pd_filter *f, const char *comm)
{
	struct comm_answer *a = &f->answers[(uintptr_t)comm / 8 % COMM_ANSWERS];

	if (a->comm != comm)
		*a = (struct comm_answer){ comm, matches_any(&f->comms, comm) };
	return a->wanted;
}

/* Returns whether the thread has a wanted name at the time of the record. */
static bool is_named(struct pd_filter *f, const struct pd_record *r, uint32_t pid, uint32_t tid)
{
	struct pd_task task;

	if (!f->history)
		return has_name(f, tid);
	return pd_history_machine_task(f->history, r, (int32_t)pid, (int32_t)tid, &task) &&
	       task.comm && matches_comm(f, task.comm);
}

static bool keeps_task(struct pd_filter *f, const struct pd_record *r)
{
	const enum pd_task_of task = r->frame.desc->task;
	uint32_t id, tid;

	if (!(f->pids.count | f->tids.count | f->comms.count) || task == PD_TASK_NONE)
		return true;
	if (!task_number(r, PD_HOT_PID, &id) || (task == PD_TASK_OR_KERNEL && id == NOBODY))
		return true;
	if (!in_ranges(&f->pids, id))
		return false;
	if (!task_number(r, PD_HOT_TID, &tid))
		return true;
	return in_ranges(&f->tids, tid) && (!f->comms.count || is_named(f, r, id, tid));
}

/* Compares the name with and without its modifiers: "cycles" matches cycles:u. */
static bool matches_event(const struct globs *g, const char *name)
{
	const char *colon = strrchr(name, ':');

	if (matches_any(g, name))
		return true;
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "ukhHGpPSDeWbR")])
		return false;
	return matches_bytes(g, (struct pd_bytes){ (const uint8_t *)name, (size_t)(colon - name) });
}

bool pd_event_name_matches(const char *glob, const char *name)
{
	char *items[] = { (char *)(uintptr_t)glob };	/* only read */

	return glob && name && matches_event(&(const struct globs){ items, 1 }, name);
}

static int keeps_event(struct pd_filter *f, const struct pd_record *r)
{
	const struct pd_attr *a = r->attr;
	struct wanted *w;

	if (!f->events.count || !a || r->frame.desc->event == PD_EVENT_ANY)
		return 1;
	if (a->index >= f->nr_wanted) {
		const size_t bigger = a->index < 16 ? 32 : 2 * (size_t)a->index;

		w = pd_budget_grow(&f->budget, f->wanted, f->nr_wanted * sizeof(*w),
				   bigger * sizeof(*w));
		if (!w)
			return -1;
		f->wanted = w;
		f->nr_wanted = bigger;
	}
	w = &f->wanted[a->index];
	if (w->answer == NOT_ASKED || w->generation != a->generation) {
		w->answer = matches_event(&f->events, pd_attr_name(a)) ? WANTED : UNWANTED;
		w->generation = a->generation;
	}
	return w->answer == WANTED;
}

static int keeps_record(struct pd_filter *f, const struct pd_record *r)
{
	uint64_t n;
	int kept;

	if (r->frame.state == PD_FRAME_SKIPPED)
		return 1;
	if (r->frame.type >= PD_RECORD_USER_START)
		return in_ranges(&f->types, r->frame.type);
	if (f->comms.count && !f->history && update_name(f, r))
		return -1;
	if (!in_ranges(&f->types, r->frame.type))
		return 0;
	if (!r->frame.desc)	/* has no known fields */
		return 1;
	if (f->cpus.count && moment_number(r, PD_HOT_CPU, &n) && !in_ranges(&f->cpus, (uint32_t)n))
		return 0;
	if (!f->any_time && moment_number(r, PD_HOT_TIME, &n) &&
	    (n < f->time.from || n > f->time.to))
		return 0;
	kept = keeps_task(f, r) ? keeps_event(f, r) : 0;
	if (kept > 0 && f->test.keeps && r->frame.type == PD_RECORD_SAMPLE)
		kept = f->test.keeps(f->test.ctx, r);
	f->samples += kept > 0 && r->frame.type == PD_RECORD_SAMPLE;
	return kept;
}

int pd_filter_keeps(struct pd_filter *f, const struct pd_record *r)
{
	int kept;

	if (!f || !r)
		return 1;
	kept = keeps_record(f, r);
	f->dropped += kept == 0;
	return kept;
}

/* Names, and a test, look into more than numbers at fixed offsets. */
static bool needs_whole_record(const struct pd_filter *f, const struct pd_record_desc *desc)
{
	return desc->names_thread != PD_NAMES_NO_THREAD || (f->history && f->comms.count) ||
	       (f->test.keeps && desc->type == PD_RECORD_SAMPLE);
}

/* Decides by the type alone, or by numbers at fixed offsets where they suffice. */
static int keeps_simple(struct pd_filter *f, const struct pd_batch *batch,
			const struct pd_simple *p, struct pd_record *r)
{
	const struct pd_record_desc *desc = pd_record_desc(p->type);

	if (!f->comms.count && !in_ranges(&f->types, p->type))
		return 0;
	if (needs_whole_record(f, desc)) {
		pd_batch_record(batch, p, r->session, r);
	} else {
		r->frame.type = p->type;
		r->frame.desc = desc;
		pd_batch_parts(batch, p, r);
	}
	return keeps_record(f, r);
}

int pd_filter_batch(struct pd_filter *f, struct pd_batch *batch, struct pd_session *s)
{
	struct pd_record r = { .session = s };
	uint32_t left = batch->next;

	for (uint32_t i = batch->next; i < batch->count; i++) {
		const int kept = keeps_simple(f, batch, &batch->records[i], &r);

		if (kept < 0)
			return -1;
		if (kept && left != i)
			batch->records[left] = batch->records[i];
		left += (uint32_t)kept;
	}
	f->dropped += batch->count - left;
	batch->count = left;
	return 0;
}

bool pd_record_type_parse(const char *name, uint32_t *type)
{
	const struct pd_record_desc *d;

	for (size_t i = 0; name && (d = pd_record_desc_at(i)) != NULL; i++) {
		if (strcasecmp(d->name, name) == 0) {
			if (type)
				*type = d->type;
			return true;
		}
	}
	return false;
}

const char *pd_record_type_name_at(size_t i)
{
	const struct pd_record_desc *d = pd_record_desc_at(i);

	return d ? d->name : NULL;
}
