/* history_tasks.c - the lives of threads: who had a tid, from when on, and under which names. */
#include "model/history.h"
#include "model/history_guests.h"
#include "model/history_live.h"
#include "model/history_ranked.h"

static struct pd_life *life_at(const struct pd_history *h, uint32_t i)
{
	return (struct pd_life *)h->lives.items + i;
}

static struct pd_life *begin_life(struct pd_history *h, const struct pd_change *c, uint32_t from)
{
	struct pd_life *life = pd_array_add(&h->lives, 1);

	if (!life)
		return NULL;
	*life = (struct pd_life){ .tid = c->tid, .pid = c->pid, .machine = c->machine,
				  .ppid = PD_NOTHING,
				  .ptid = PD_NOTHING, .from = from, .end = PD_NOTHING,
				  .comm = PD_NOTHING, .first_name = h->names.nr,
				  .first_ns = h->ns_since.nr };
	return life;
}

static int add_rank(struct pd_array *a, uint32_t rank)
{
	uint32_t *added = pd_array_add(a, 1);

	if (!added)
		return -1;
	*added = rank;
	return 0;
}

/* Returns whether a change begins another life of its tid. The kernel records the end of a task
 * before its last samples, but not after its other changes. */
static bool begins_life(const struct pd_life *life, const struct pd_change *c)
{
	return !life || c->kind == PD_CHANGE_FORK ||
	       (life->end != PD_NOTHING && c->kind != PD_CHANGE_EXIT) || life->pid != c->pid;
}

/* Applies a change to its thread, whose last life is the last of all, or NULL. */
static struct pd_life *replay_change(struct pd_history *h, struct pd_life *life,
				     struct pd_change *c, uint32_t rank)
{
	c->is_minor = !begins_life(life, c);
	if (!c->is_minor)
		life = begin_life(h, c, life || c->kind == PD_CHANGE_FORK ? rank : 0);
	if (!life)
		return NULL;
	switch ((enum pd_change_kind)c->kind) {
	case PD_CHANGE_FORK:
	case PD_CHANGE_THERE:
		c->is_minor = false;
		life->ppid = c->ppid;
		life->ptid = c->ptid;
		break;
	case PD_CHANGE_EXEC:
		c->is_minor = false;
		life->execs++;
		return add_rank(&h->names, rank) ? NULL : life;
	case PD_CHANGE_COMM:
		return add_rank(&h->names, rank) ? NULL : life;
	case PD_CHANGE_NAMESPACES:
		return add_rank(&h->ns_since, rank) ? NULL : life;
	case PD_CHANGE_EXIT:
		if (life->end == PD_NOTHING)
			life->end = rank;
		break;
	case PD_CHANGE_MAP:
		break;
	}
	return life;
}

/* Returns whose task a change is. */
static uint64_t task_of(const struct pd_history *h, uint32_t rank)
{
	const struct pd_change *c = pd_change_at(h, rank);

	return c->kind == PD_CHANGE_MAP ? PD_NO_KEY : pd_task_key((uint8_t)c->machine, c->tid);
}

/* Replays changes that are ordered by task. */
static int replay_lives(struct pd_history *h, const struct pd_ranked *by_task)
{
	uint64_t last_task = PD_NO_KEY;

	for (uint32_t i = 0; i < by_task->nr; i++) {
		const uint32_t rank = pd_ranked_at(by_task, i);
		const uint64_t task = task_of(h, rank);
		struct pd_life *last = task == last_task ? life_at(h, h->lives.nr - 1) : NULL;

		if (!replay_change(h, last, pd_change_at(h, rank), rank))
			return -1;
		last_task = task;
	}
	return 0;
}

/* Returns the value at a rank of what changed at the n ranks from `first` on. */
static uint32_t value_at(const struct pd_history *h, const struct pd_array *ranks, uint32_t first,
			 uint32_t n, uint32_t rank)
{
	const uint32_t *s = ranks->items;
	uint32_t low = first;

	while (n) {
		const uint32_t half = n / 2;

		if (s[low + half] <= rank) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low > first ? pd_change_at(h, s[low - 1])->item : PD_NOTHING;
}

static const struct pd_life *next_life(const struct pd_history *h, const struct pd_life *life)
{
	const struct pd_life *end = (const struct pd_life *)h->lives.items + h->lives.nr;

	return life + 1 < end ? life + 1 : NULL;
}

static uint32_t comm_at(const struct pd_history *h, const struct pd_life *life, uint32_t rank)
{
	const struct pd_life *next = next_life(h, life);
	const uint32_t end = next ? next->first_name : h->names.nr;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): callers checked the number */
	const uint32_t comm = value_at(h, &h->names, life->first_name, end - life->first_name,
				       rank);

	return comm == PD_NOTHING ? life->comm : comm;
}

static uint32_t namespaces_at(const struct pd_history *h, const struct pd_life *life,
			      uint32_t rank)
{
	const struct pd_life *next = next_life(h, life);
	const uint32_t end = next ? next->first_ns : h->ns_since.nr;

	return value_at(h, &h->ns_since, life->first_ns, end - life->first_ns, rank);
}

/* Returns the life of a machine's tid at a rank, or NULL. */
static const struct pd_life *find_life(const struct pd_history *h, uint8_t machine, uint32_t tid,
				       uint32_t rank)
{
	const struct pd_life *lives = h->lives.items;
	const uint64_t key = pd_task_key(machine, tid);
	uint32_t low = 0, n = h->lives.nr;

	if (machine == PD_HOST)
		pd_key_index_narrow(&h->life_of, tid, &low, &n);
	while (n) {
		const uint32_t half = n / 2;
		const struct pd_life *l = &lives[low + half];
		const uint64_t own = pd_task_key(l->machine, l->tid);

		if (own < key || (own == key && l->from <= rank)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low && pd_task_key(lives[low - 1].machine, lives[low - 1].tid) == key ?
		       &lives[low - 1] : NULL;
}

/* A new task has its parent's name. In the order of the ranks, the parent's is known. */
static void inherit_names(struct pd_history *h)
{
	for (uint32_t rank = 1; rank <= h->changes.nr; rank++) {
		const struct pd_change *c = pd_change_at(h, rank);
		const struct pd_life *parent;
		struct pd_life *child;

		if (c->kind != PD_CHANGE_FORK)
			continue;
		child = (struct pd_life *)(uintptr_t)find_life(h, c->machine, c->tid, rank);
		parent = c->ptid == c->tid ? NULL : find_life(h, c->machine, c->ptid, rank);
		if (child && parent && parent->pid == c->ppid)
			child->comm = comm_at(h, parent, rank);
	}
}

static uint32_t tid_of(const void *ctx, uint32_t i)
{
	return life_at(ctx, i)->tid;
}

/* The host's are the first. */
static void index_lives(struct pd_history *h)
{
	uint32_t n = h->lives.nr;

	while (n && life_at(h, n - 1)->machine)
		n--;
	pd_key_index_make(&h->life_of, n, tid_of, h);
}

int pd_history_replay_tasks(struct pd_history *h)
{
	struct pd_ranked by_task;
	int ret;

	if (pd_ranked_make(h, &by_task, task_of))
		return -1;
	ret = replay_lives(h, &by_task);
	pd_ranked_free(h, &by_task);
	if (ret)
		return ret;
	pd_array_trim(&h->lives);
	index_lives(h);
	inherit_names(h);
	return 0;
}

uint64_t pd_history_time_of(const struct pd_history *h, uint32_t rank)
{
	return !rank || rank == PD_NOTHING ? PD_NO_TIME : pd_change_at(h, rank)->time;
}

static void describe_life(const struct pd_history *h, const struct pd_life *l, uint32_t rank,
			  struct pd_task *out)
{
	const uint32_t comm = comm_at(h, l, rank);
	const uint32_t ns = namespaces_at(h, l, rank);

	*out = (struct pd_task){
		.pid = (int32_t)l->pid,
		.tid = (int32_t)l->tid,
		.ppid = (int32_t)l->ppid,
		.ptid = (int32_t)l->ptid,
		.start = pd_history_time_of(h, l->from),
		.end = pd_history_time_of(h, l->end),
		.flags =
			(l->from ? 0 : PD_TASK_WAS_THERE) | (l->tid == l->pid ? PD_TASK_LEADER : 0),
		.execs = l->execs,
		.cpu = -1,
		.machine_pid = pd_history_machine_pid(h, l->machine),
		.comm = comm == PD_NOTHING ? NULL : ((const char **)h->comms.items)[comm],
		.namespaces = ns == PD_NOTHING
				      ? NULL
				      : ((const struct pd_namespaces **)h->namespaces.items)[ns],
	};
}

/* A thread at a moment, to be found. */
struct whose {
	const struct pd_guest *guest;
	int32_t pid, tid, cpu;
	struct pd_moment at;
};

static bool find_task(const struct pd_history *h, const struct whose *w, struct pd_task *out)
{
	const uint8_t machine = pd_guest_number(w->guest);
	const struct pd_life *life;
	uint32_t rank;

	if (!w->tid && w->pid <= 0) {
		out->pid = 0;
		out->comm = "swapper";
		out->flags = PD_TASK_IDLE | PD_TASK_WAS_THERE | PD_TASK_LEADER;
		return true;
	}
	if (h->live)
		return pd_live_task(h, machine, w->pid, w->tid, out);
	rank = pd_history_rank_of(h, &w->at);
	life = find_life(h, machine, (uint32_t)w->tid, rank);
	if (!life || (w->pid != -1 && life->pid != (uint32_t)w->pid))
		return false;
	describe_life(h, life, rank, out);
	return true;
}

static bool fill_in_task(const struct pd_history *h, const struct whose *w, struct pd_task *out)
{
	struct pd_task unused = { .pid = 0 };
	bool is_known;

	out = out ? out : &unused;
	*out = (struct pd_task){ .pid = w->pid, .tid = w->tid, .ppid = -1, .ptid = -1,
				 .start = PD_NO_TIME, .end = PD_NO_TIME, .cpu = w->cpu };
	is_known = find_task(h, w, out);
	if (w->guest) {
		out->machine_pid = (int32_t)w->guest->machine_pid;
		out->vcpu = (int32_t)w->guest->vcpu;
	}
	return is_known;
}

bool pd_history_task(const struct pd_history *h, int32_t pid, int32_t tid, int32_t cpu,
		     const struct pd_moment *at, struct pd_task *out)
{
	if (!h || !at)
		return false;
	return fill_in_task(h, &(struct whose){ .pid = pid, .tid = tid, .cpu = cpu, .at = *at },
			    out);
}

static int32_t number_or_none(const struct pd_record *r, enum pd_part part, enum pd_hot which)
{
	uint64_t n;

	return pd_record_number(r, part, which, &n) ? (int32_t)n : -1;
}

static enum pd_part part_of(const struct pd_record *r)
{
	return r->frame.type == PD_RECORD_SAMPLE ? PD_OF_BODY : PD_OF_TRAILER;
}

bool pd_history_machine_task(const struct pd_history *h, const struct pd_record *r, int32_t pid,
			     int32_t tid, struct pd_task *out)
{
	struct whose w = { .guest = pd_history_guest_of(h, r), .pid = pid, .tid = tid,
			   .cpu = number_or_none(r, part_of(r), PD_HOT_CPU) };

	pd_record_moment(r, &w.at);
	return fill_in_task(h, &w, out);
}

bool pd_history_record_task(const struct pd_history *h, const struct pd_record *r,
			    struct pd_task *out)
{
	if (!h || !r)
		return false;
	return pd_history_machine_task(h, r, number_or_none(r, part_of(r), PD_HOT_PID),
				       number_or_none(r, part_of(r), PD_HOT_TID), out);
}

bool pd_history_fields_task(const struct pd_history *h, const struct pd_fields *f,
			    const struct pd_moment *at, struct pd_task *out)
{
	struct whose w;

	if (!h || !f)
		return false;
	w = (struct whose){
		.guest = f->has & PD_HAS_ID ? pd_history_guest(h, f->id) : NULL,
		.pid = f->has & PD_HAS_PID ? f->pid : -1,
		.tid = f->has & PD_HAS_TID ? f->tid : -1,
		.cpu = f->has & PD_HAS_CPU ? (int32_t)f->cpu : -1,
		.at = { f->has & PD_HAS_TIME ? f->time : PD_NO_TIME, f->offset, 0 } };
	if (at)
		w.at = *at;
	return fill_in_task(h, &w, out);
}

size_t pd_history_nr_tasks(const struct pd_history *h)
{
	return h ? h->lives.nr : 0;
}

bool pd_history_task_at(const struct pd_history *h, size_t i, struct pd_task *out)
{
	struct pd_task unused = { .pid = 0 };

	out = out ? out : &unused;
	if (!h || i >= h->lives.nr) {
		*out = (struct pd_task){ .pid = -1, .tid = -1, .ppid = -1, .ptid = -1,
					 .start = PD_NO_TIME, .end = PD_NO_TIME, .cpu = -1 };
		return false;
	}
	describe_life(h, life_at(h, (uint32_t)i), PD_NOTHING, out);
	return true;
}
