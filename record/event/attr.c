/* attr.c - build the events' attributes from options and terms. */
#include "event/attr.h"

#include <string.h>

#include "event/attr_options.h"
#include "event/event_aux.h"
#include "event/regs.h"

/* A clock event that fires more often than this can leave a cpu no time for anything else. */
enum { CLOCK_FLOOR_NS = 50000 };
enum { WAKEUP_LEAST = 64 << 10, WAKEUP_MOST = 2 << 20 };	/* bytes */

bool events_have_flag(const struct event_list *l, uint64_t flags)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.flags & flags)
			return true;
	return false;
}

bool events_have_sample(const struct event_list *l, uint64_t sample_type)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.sample_type & sample_type)
			return true;
	return false;
}

static bool is_software(const struct event *e, uint64_t config)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == config;
}

static bool is_leader(const struct event_list *l, size_t i)
{
	return l->items[i].leader == i;
}

/* Most hardware traces have no count of which each Nth could be sampled. */
static bool traces_all(const struct event *e)
{
	return e->aux && e->aux != AUX_ARM_SPE && e->aux != AUX_S390_CPUMSF;
}

static void set_rate(struct event *e, const struct attr_options *o)
{
	struct event_attr *a = &e->attr;
	const struct event_terms *t = &e->terms;
	bool every = is_software(e, PERF_COUNT_SW_BPF_OUTPUT) || traces_all(e);
	uint64_t freq = t->has_freq ? t->freq : t->has_period ? 0 : o->freq;

	e->rate = o->rate;
	if (t->has_freq || t->has_period)
		e->rate = o->o->strict_freq ? RATE_STRICT : RATE_GIVEN;
	if (every && !t->has_freq && !t->has_period) {
		a->sample_period = 1;
	} else if (t->has_freq || t->has_period || o->rate_given || !a->sample_period) {
		a->sample_period = freq ? freq : t->has_period ? t->period : o->period;
		if (freq)
			a->flags |= ATTR_FREQ;
	}
	if (!o->o->samples) {
		a->sample_period = 0;
		a->flags &= ~ATTR_FREQ;
	}
	if (a->flags & ATTR_FREQ)
		a->sample_type |= PERF_SAMPLE_PERIOD;
}

static enum callchain_mode callchain_of(const struct event *e, const struct attr_options *o)
{
	if (e->terms.callchain == CALLCHAIN_LBR && e->attr.flags & ATTR_EXCLUDE_USER)
		return CALLCHAIN_FP;	/* LBR call stacks work in user space only */
	if (e->terms.callchain)
		return e->terms.callchain;
	/* A max-stack term alone asks for call chains, too. */
	return e->terms.has_max_stack && o->callchain == CALLCHAIN_NONE ? CALLCHAIN_FP :
									  o->callchain;
}

/* Unwinders of stack copies need tables that are mapped as data. */
static uint64_t flags_for_unwinding(const struct event_list *l, const struct attr_options *o)
{
	for (size_t i = 0; i < l->n; i++)
		if (callchain_of(&l->items[i], o) == CALLCHAIN_DWARF)
			return ATTR_MMAP_DATA;
	return 0;
}

/* Intel PT decoders need to know which task a branch in the kernel belongs to. */
static uint64_t flags_for_tracing(const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].aux == AUX_INTEL_PT &&
		    !(l->items[i].attr.flags & ATTR_EXCLUDE_KERNEL))
			return ATTR_CONTEXT_SWITCH;
	return 0;
}

static void set_callchain(struct event *e, const struct attr_options *o)
{
	struct event_attr *a = &e->attr;
	enum callchain_mode mode = callchain_of(e, o);

	if (mode == CALLCHAIN_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_max_stack = e->terms.has_max_stack ? e->terms.max_stack : o->max_stack;
	if (o->o->kernel_callchains)
		a->flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
	if (o->o->user_callchains)
		a->flags |= ATTR_EXCLUDE_CALLCHAIN_KERNEL;
	if (mode == CALLCHAIN_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
			ABI_BRANCH_HW_INDEX;
		/* Keep the user part of the call chain: readers replace it with the branches. */
	}
	if (mode == CALLCHAIN_DWARF) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
				  PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
		a->sample_regs_user |= regs_all();
		a->sample_stack_user = e->terms.stack_size ? e->terms.stack_size : o->stack_size;
		a->flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
	}
}

/* Where bits name no privilege level, the kernel uses the event's. */
static void set_branches(struct event_attr *a, uint64_t bits)
{
	if (!bits)
		return;
	a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	a->branch_sample_type |= bits;
}

static void set_fields(struct event *e, const struct attr_options *o, const struct target *t)
{
	struct event_attr *a = &e->attr;

	a->sample_type |= o->sample_type;
	a->sample_regs_user = o->regs_user;
	a->sample_regs_intr = o->regs_intr;
	a->aux_sample_size = e->terms.aux_sample_size ? e->terms.aux_sample_size :
			     e->aux ? 0 : o->aux_sample_size;
	a->sample_type &= ~(uint64_t)PERF_SAMPLE_AUX;
	if (a->aux_sample_size)
		a->sample_type |= PERF_SAMPLE_AUX;
	if (t->kind == TARGET_SYSTEM || o->o->cpus)
		a->sample_type |= PERF_SAMPLE_CPU;
	if (e->aux)
		a->sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	if (is_software(e, PERF_COUNT_SW_BPF_OUTPUT))
		a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				  PERF_SAMPLE_PERIOD;
	set_callchain(e, o);
	if (e->terms.callchain != CALLCHAIN_LBR)
		set_branches(a, e->terms.branch_type ? e->terms.branch_type :
			     o->branch_sample_type);
	if (is_software(e, PERF_COUNT_SW_DUMMY))
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	if (e->terms.time == CHOICE_NO)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	else if (e->terms.time == CHOICE_YES)
		a->sample_type |= PERF_SAMPLE_TIME;
	if (e->precise_max)
		attr_set_precise_ip(a, 3);
}

static void set_reading(struct event_list *l, size_t i, const struct attr_options *o)
{
	struct event *e = &l->items[i];
	struct event_attr *a = &e->attr;

	a->read_format = PERF_FORMAT_ID | ABI_FORMAT_LOST;
	if (o->o->stat) {
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a->flags |= ATTR_INHERIT_STAT;
	}
	if (!e->sample_read)
		return;
	a->sample_type |= PERF_SAMPLE_READ;
	if (o->o->running_time)
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (events_of_leader(l, e->leader) < 2)
		return;
	a->read_format |= PERF_FORMAT_GROUP;
	/* Kernels before 6.12 refuse to inherit such a group. */
	if (e->terms.inherit != CHOICE_YES)
		a->flags &= ~(ATTR_INHERIT | ATTR_INHERIT_STAT);
}

/* Returns the event that samples for the group of event i: the leader, or the next member where
 * the leader is a hardware trace. */
static const struct event *sampler_of(const struct event_list *l, size_t i)
{
	size_t leader = l->items[i].leader;

	for (size_t k = leader + 1; l->items[leader].aux && k < l->n; k++)
		if (l->items[k].leader == leader)
			return &l->items[k];
	return &l->items[leader];
}

/* With :S only one event of the group samples, and all of the group's records have its fields. */
static void follow_sampler(const struct event_list *l, size_t i)
{
	const struct event *sampler = sampler_of(l, i);
	struct event_attr *a = &l->items[i].attr;

	if (is_leader(l, i) || sampler == &l->items[i] || !l->items[l->items[i].leader].sample_read)
		return;
	if (!l->items[i].terms.has_period && !l->items[i].terms.has_freq) {
		a->sample_period = 0;
		a->flags &= ~ATTR_FREQ;
	}
	if (l->items[i].terms.overwrite != CHOICE_YES)
		a->flags &= ~ATTR_WRITE_BACKWARD;
	a->sample_type = sampler->attr.sample_type;
}

static void set_levels(struct event *e, const struct settings *o)
{
	if (o->all_user) {
		e->attr.flags &= ~ATTR_EXCLUDE_USER;
		e->attr.flags |= ATTR_EXCLUDE_KERNEL;
	}
	if (o->all_kernel) {
		e->attr.flags &= ~ATTR_EXCLUDE_KERNEL;
		e->attr.flags |= ATTR_EXCLUDE_USER;
	}
	e->modified = e->modified || o->all_user || o->all_kernel;
}

/* As in perf, -t records the named threads alone, -p also what the processes start. */
static bool inherits_by_default(const struct settings *o)
{
	return o->inherit && (!o->tids.count || o->inherit_thread);
}

bool attrs_are_inherited(const struct settings *o, const struct target *t)
{
	return t->kind != TARGET_SYSTEM && t->cpus.items[0] >= 0 && inherits_by_default(o);
}

static bool inherits(const struct event *e, const struct settings *o)
{
	if (e->terms.inherit != CHOICE_UNSET)
		return e->terms.inherit == CHOICE_YES;
	return inherits_by_default(o);
}

/* As event_probe.c explains, probes of a PMU would make the target's forks fail. */
static bool is_refused_to_tasks(const struct event *e, const struct target *t)
{
	return e->probe && t->kind != TARGET_SYSTEM;
}

static void set_flags(struct event_list *l, size_t i, const struct attr_options *o,
		      const struct target *t)
{
	struct event *e = &l->items[i];
	const struct event_terms *terms = &e->terms;
	uint64_t *flags = &e->attr.flags;

	*flags |= ATTR_SAMPLE_ID_ALL;
	/* The kernel maps no ring buffer for an inherited counter on any cpu (cpu -1). */
	if (t->cpus.items[0] >= 0 && inherits(e, o->o) && !is_refused_to_tasks(e, t))
		*flags |= ATTR_INHERIT;
	if (o->o->inherit_thread && (*flags & ATTR_INHERIT))
		*flags |= ATTR_INHERIT_THREAD;
	if (o->o->remove_on_exec)
		*flags |= ATTR_REMOVE_ON_EXEC;
	if (!e->helper &&
	    (terms->overwrite == CHOICE_UNSET ? o->o->overwrite : terms->overwrite == CHOICE_YES))
		*flags |= ATTR_WRITE_BACKWARD;
	if (terms->aux_output == CHOICE_YES)
		*flags |= ATTR_AUX_OUTPUT;
	if (is_leader(l, i))
		*flags |= ATTR_DISABLED;
	if (is_leader(l, i) && t->kind == TARGET_COMMAND && (e->helper || !o->o->delay) &&
	    !e->system_wide && !(*flags & ATTR_REMOVE_ON_EXEC))
		*flags |= ATTR_ENABLE_ON_EXEC;
	if (o->use_clockid) {
		*flags |= ATTR_USE_CLOCKID;
		e->attr.clockid = o->clockid;
	}
	if (e->tracking)
		*flags |= o->tracking_flags;
}

/* A quarter of the buffer: the rest must last while a write waits for the disk. Half of a small
 * buffer, the kernel's default: wake-ups take time on the recorded cpus, and more of them lose more
 * samples. Less of a large one: the compressor needs time for what it gets at once. */
static uint32_t watermark_for(size_t buffer)
{
	if (buffer / 4 < WAKEUP_LEAST)
		return (uint32_t)(buffer / 2 < WAKEUP_LEAST ? buffer / 2 : WAKEUP_LEAST);
	return (uint32_t)(buffer / 4 < WAKEUP_MOST ? buffer / 4 : WAKEUP_MOST);
}

static void set_wakeup(struct event_attr *a, const struct settings *o, size_t buffer)
{
	if (!o->buffering) {
		a->wakeup = 1;
	} else if (!a->wakeup) {
		a->flags |= ATTR_WATERMARK;
		a->wakeup = watermark_for(buffer);
	}
}

static void apply_attr_terms(struct event *e)
{
	e->attr.sample_type |= e->terms.sample_type;
	e->attr.read_format |= e->terms.read_format;
	e->attr.flags |= e->terms.flags_set;
	e->attr.flags &= ~e->terms.flags_cleared;
	if ((e->attr.flags & (ATTR_SIGTRAP | ATTR_REMOVE_ON_EXEC)) == ATTR_SIGTRAP)
		e->attr.flags |= ATTR_REMOVE_ON_EXEC;
	if (e->attr.flags & ATTR_REMOVE_ON_EXEC)
		e->attr.flags &= ~ATTR_ENABLE_ON_EXEC;
}

/* Whether tasks and maps must be recorded by an event of their own: the user's can't where they are
 * bound to some cpus or cgroups, start late, or overwrite. With -C the helper covers all cpus. */
static bool needs_helper(const struct event_list *l, const struct settings *o,
			 const struct target *t)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct event *e = &l->items[i];

		if (e->system_wide || e->cpus.n || e->cgroup ||
		    e->terms.overwrite == CHOICE_YES || e->terms.inherit == CHOICE_NO ||
		    e->terms.time == CHOICE_NO)
			return true;
	}
	return t->kind == TARGET_SYSTEM || o->cpus || o->delay || o->overwrite || o->control ||
	       o->cgroups.count || !o->samples || events_have_aux(l);
}

static int choose_tracking(struct event_list *l, const struct settings *o, const struct target *t)
{
	struct event *e;

	if (!needs_helper(l, o, t)) {
		l->items[0].tracking = true;
		return 0;
	}
	l->specs++;
	e = events_add(l, "dummy:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	if (!e)
		return event_no_memory(l);
	e->attr.flags |= ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
	e->modified = e->helper = e->tracking = true;
	return 0;
}

static void warn_of_fast_clocks(const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct event *e = &l->items[i];
		uint64_t ns = e->attr.sample_period;

		if (e->attr.type != PERF_TYPE_SOFTWARE ||
		    e->attr.config > PERF_COUNT_SW_TASK_CLOCK || !ns)
			continue;
		if (e->attr.flags & ATTR_FREQ)
			ns = 1000000000 / ns;
		if (ns < CLOCK_FLOOR_NS)
			log_at(l->log, LOG_WARNING,
			       "%s every %llu ns leaves little time for anything else "
			       "and can lock up a CPU",
			       e->name, (unsigned long long)ns);
	}
}

static void warn_of_lost_command(const struct event_list *l, const struct target *t)
{
	if (t->kind == TARGET_COMMAND && l->items[0].attr.flags & ATTR_REMOVE_ON_EXEC)
		log_at(l->log, LOG_WARNING,
		       "events that are removed on exec see nothing of a command, which begins "
		       "with one: they are for processes that run already (-p)");
}

/* Returns whether an event leads a group with :S that would be inherited if it were no group. */
static bool is_kept_from_tasks(const struct event_list *l, size_t i, const struct settings *o)
{
	const struct event *e = &l->items[i];

	return is_leader(l, i) && e->sample_read && events_of_leader(l, i) > 1 && inherits(e, o) &&
	       e->terms.inherit == CHOICE_UNSET;
}

/* As in perf, what the target starts is in no such group: of a program with threads the first is
 * recorded alone. */
static void warn_of_lone_groups(const struct event_list *l, const struct settings *o,
				const struct target *t)
{
	if (t->kind == TARGET_SYSTEM || t->cpus.items[0] < 0)
		return;
	for (size_t i = 0; i < l->n; i++)
		if (is_kept_from_tasks(l, i, o))
			log_at(l->log, LOG_WARNING,
			       "%s: its group with :S records no new threads and processes; with "
			       "the term inherit, as in %s/inherit/, it does since Linux 6.12",
			       l->items[i].name, l->items[i].name);
}

static void warn_of_lone_probes(const struct event_list *l, const struct target *t)
{
	for (size_t i = 0; l->inherited && i < l->n; i++)
		if (is_refused_to_tasks(&l->items[i], t))
			log_at(l->log, LOG_WARNING,
			       "%s: new threads and processes are not recorded: this needs a probe "
			       "in tracefs, which can't be written", l->items[i].name);
}

static void group_all_events(struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->items[i].leader = 0;
}

/* Readers find a record's event by its id, which must be at the same place for all events. All
 * attributes get the same size. */
static void align_attrs(struct event_list *l)
{
	bool read = events_have_sample(l, PERF_SAMPLE_READ);
	uint64_t id = events_have_sample(l, PERF_SAMPLE_IDENTIFIER) || l->n > 1 ?
		      PERF_SAMPLE_IDENTIFIER : 0;
	uint32_t size = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct event_attr *a = &l->items[i].attr;
		uint32_t needed = attr_size_needed(a);

		a->sample_type |= id;
		if (read && !id)
			a->sample_type |= PERF_SAMPLE_ID;
		size = needed > size ? needed : size;
	}
	for (size_t i = 0; i < l->n; i++)
		l->items[i].attr.size = size;
}

static void complete_event(struct event_list *l, size_t i, const struct attr_options *a,
			   const struct target *t, size_t buffer)
{
	struct event *e = &l->items[i];

	if (!e->helper) {
		set_levels(e, a->o);
		set_rate(e, a);
		set_fields(e, a, t);
	} else {
		e->attr.sample_period = 1;
		e->attr.sample_type = a->sample_type &
				      (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
		if (events_have_sample(l, PERF_SAMPLE_CPU))
			e->attr.sample_type |= PERF_SAMPLE_CPU;
	}
	set_flags(l, i, a, t);
	set_reading(l, i, a);
	follow_sampler(l, i);
	set_wakeup(&e->attr, a->o, buffer);
	apply_attr_terms(e);
}

int attrs_configure(struct event_list *l, const struct settings *o, const struct target *t,
		    size_t buffer)
{
	struct attr_options a;
	int err = attr_options_read(&a, o, l->log);

	if (err)
		return err;
	a.tracking_flags |= flags_for_unwinding(l, &a) | flags_for_tracing(l);
	if (o->group)
		group_all_events(l);
	if (choose_tracking(l, o, t))
		return CLI_OUTPUT;
	for (size_t i = 0; i < l->n; i++)
		complete_event(l, i, &a, t, buffer);
	align_attrs(l);
	warn_of_fast_clocks(l);
	warn_of_lost_command(l, t);
	warn_of_lone_groups(l, o, t);
	warn_of_lone_probes(l, t);
	return 0;
}

int attrs_configure_triggers(struct event_list *l, const struct settings *o, const struct target *t)
{
	struct settings plain = settings_default;
	struct attr_options a;
	int err;

	plain.period = 1;
	plain.buffering = plain.timestamp = false;
	plain.inherit = o->inherit;
	plain.inherit_thread = o->inherit_thread;
	plain.tids = o->tids;
	err = attr_options_read(&a, &plain, l->log);
	if (err)
		return err;
	for (size_t i = 0; i < l->n; i++) {
		complete_event(l, i, &a, t, 0);
		/* The smallest sample that counts as one. */
		l->items[i].attr.sample_type = PERF_SAMPLE_TID;
	}
	align_attrs(l);
	warn_of_fast_clocks(l);
	return 0;
}

void attrs_add_build_ids(struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].tracking)
			l->items[i].attr.flags |= ATTR_BUILD_ID;
}
