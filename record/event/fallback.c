/* fallback.c - change events that the kernel refuses: leave out features of later kernels, newest
 * first; record user space only where the kernel is forbidden; use cpu-clock where there is no
 * hardware counter. */
#include "event/fallback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/kernel_version.h"
#include "base/sysctl.h"
#include "event/event_terms.h"

/* The highest rate of a clock that replaces a counter, and its shortest time between samples. */
enum { CLOCK_MAX_FREQ = 10000, CLOCK_MIN_NS = 1000000000 / CLOCK_MAX_FREQ };

/* Bits that one kernel release added. quiet: no option asked for them by name. */
static const struct step {
	const char *what, *since;
	uint64_t flags, sample_type, read_format, branch;
	bool quiet;
} steps[] = {
	{ "deferred call chains", "6.19", .flags = ATTR_DEFER_CALLCHAIN | ATTR_DEFER_OUTPUT },
	{ "branch counters", "6.8", .branch = ABI_BRANCH_COUNTERS },
	{ "privilege levels of branches", "6.1", .branch = ABI_BRANCH_PRIV_SAVE },
	{ "counts of lost samples", "6.0", .read_format = ABI_FORMAT_LOST, .quiet = true },
	{ "inherit-thread", "5.13", .flags = ATTR_INHERIT_THREAD },
	{ "remove-on-exec and sigtrap", "5.13", .flags = ATTR_REMOVE_ON_EXEC | ATTR_SIGTRAP },
	{ "build ids in maps", "5.12", .flags = ATTR_BUILD_ID },
	{ "weights in parts", "5.12", .sample_type = ABI_SAMPLE_WEIGHT_STRUCT, .quiet = true },
	{ "page sizes", "5.11",
	  .sample_type = ABI_SAMPLE_CODE_PAGE_SIZE | ABI_SAMPLE_DATA_PAGE_SIZE },
	{ "text-poke", "5.9", .flags = ATTR_TEXT_POKE },
	{ "cgroups", "5.7", .flags = ATTR_CGROUP, .sample_type = PERF_SAMPLE_CGROUP },
	{ "the branch index", "5.7", .branch = ABI_BRANCH_HW_INDEX, .quiet = true },
	{ "AUX samples", "5.5", .sample_type = PERF_SAMPLE_AUX },
	{ "aux-output", "5.4", .flags = ATTR_AUX_OUTPUT },
	{ "kernel symbols and BPF programs", "5.1", .flags = ATTR_KSYMBOL | ATTR_BPF_EVENT,
	  .quiet = true },
	{ "physical addresses", "4.14", .sample_type = PERF_SAMPLE_PHYS_ADDR },
	{ "namespaces", "4.12", .flags = ATTR_NAMESPACES },
	{ "context switches", "4.3", .flags = ATTR_CONTEXT_SWITCH },
	{ "the clock", "4.1", .flags = ATTR_USE_CLOCKID },
	{ "registers at the interrupt", "3.19", .sample_type = PERF_SAMPLE_REGS_INTR },
	{ "inodes in maps", "3.16", .flags = ATTR_MMAP2 | ATTR_COMM_EXEC, .quiet = true },
	{ "transaction flags", "3.13", .sample_type = PERF_SAMPLE_TRANSACTION },
	{ "hosts and guests", "3.2", .flags = ATTR_EXCLUDE_GUEST | ATTR_EXCLUDE_HOST,
	  .quiet = true },
};
#define NR_STEPS (sizeof(steps) / sizeof(steps[0]))

static bool attr_uses(const struct event_attr *a, const struct step *s)
{
	return (a->flags & s->flags) || (a->sample_type & s->sample_type) ||
	       (a->read_format & s->read_format) || (a->branch_sample_type & s->branch);
}

static void drop_from_attr(struct event_attr *a, const struct step *s)
{
	if (a->sample_type & s->sample_type & ABI_SAMPLE_WEIGHT_STRUCT)
		a->sample_type |= PERF_SAMPLE_WEIGHT;
	a->flags &= ~s->flags;
	a->sample_type &= ~s->sample_type;
	a->read_format &= ~s->read_format;
	a->branch_sample_type &= ~s->branch;
	if (s->flags & ATTR_USE_CLOCKID)
		a->clockid = 0;
	if (s->sample_type & PERF_SAMPLE_REGS_INTR)
		a->sample_regs_intr = 0;
	if (s->sample_type & PERF_SAMPLE_AUX)
		a->aux_sample_size = 0;
}

static bool keep_original(struct fallback *f, const struct event_list *l)
{
	if (f->original)
		return true;
	f->original = malloc(l->n * sizeof(*f->original));
	for (size_t i = 0; f->original && i < l->n; i++)
		f->original[i] = l->items[i].attr;
	return f->original != NULL;
}

static void restore_attrs(struct fallback *f, struct event_list *l)
{
	for (size_t i = 0; f->original && i < l->n; i++)
		l->items[i].attr = f->original[i];
	f->dropped = 0;
}

static bool next_step(struct fallback *f, struct event_list *l, const struct event *e)
{
	for (size_t s = 0; s < NR_STEPS; s++) {
		if (!attr_uses(&e->attr, &steps[s]))
			continue;
		if (!keep_original(f, l))
			return false;
		for (size_t i = 0; i < l->n; i++)
			drop_from_attr(&l->items[i].attr, &steps[s]);
		f->dropped |= 1u << s;
		return true;
	}
	return false;
}

static void rename_event(struct event *e, const char *start, const char *end)
{
	size_t size = strlen(start) + strlen(end) + 1;
	char *name = malloc(size);

	if (!name)
		return;
	snprintf(name, size, "%s%s", start, end);
	free(e->name);
	e->name = name;
}

/* cycles: cycles:u; cycles:P: cycles:Pu; pmu/term/: pmu/term/u. */
static const char *user_suffix(const struct event *e)
{
	const char *last = strrchr(e->name, ':');

	if (last && is_modifiers(last + 1) && e->attr.type != PERF_TYPE_TRACEPOINT)
		return "u";
	return e->name[strlen(e->name) - 1] == '/' ? "u" : ":u";
}

static bool try_user_only(struct fallback *f, struct event_list *l, const struct event *refused)
{
	bool changed = false;

	/* Only root may set probes, also in user space. */
	if (f->user_only || f->target->kind == TARGET_SYSTEM || refused->probe)
		return false;
	f->user_only = true;
	for (size_t i = 0; i < l->n; i++) {
		struct event *e = &l->items[i];

		if (e->modified || (e->attr.flags & ATTR_EXCLUDE_KERNEL))
			continue;
		e->attr.flags |= ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
		rename_event(e, e->name, user_suffix(e));
		if (f->original)
			f->original[i] = e->attr;
		changed = true;
	}
	if (changed)
		log_at(l->log, LOG_WARNING,
		       "recording user space only: the kernel can't be recorded "
		       "(kernel.perf_event_paranoid is %ld, 1 allows it)",
		       sysctl_read("perf_event_paranoid", 2));
	return changed;
}

/* Faster clocks can leave no time for other work, in virtual machines above all. False: the rate is
 * low enough. */
static bool lower_clock_rate(struct event_attr *a)
{
	if (a->flags & ATTR_FREQ && a->sample_period > CLOCK_MAX_FREQ)
		a->sample_period = CLOCK_MAX_FREQ;
	else if (!(a->flags & ATTR_FREQ) && a->sample_period && a->sample_period < CLOCK_MIN_NS)
		a->sample_period = CLOCK_MIN_NS;
	else
		return false;
	return true;
}

static void make_clock(struct event *e, const struct event_attr *rate)
{
	const char *level = "";

	e->attr = *rate;
	e->attr.type = PERF_TYPE_SOFTWARE;
	e->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr_set_precise_ip(&e->attr, 0);
	e->precise_max = false;
	if (e->attr.flags & ATTR_EXCLUDE_KERNEL)
		level = ":u";
	else if (e->attr.flags & ATTR_EXCLUDE_USER)
		level = ":k";
	rename_event(e, "cpu-clock", level);
}

/* Virtual machines often have no hardware counters. */
static bool try_clock(struct event_list *l, struct event *e)
{
	struct event_attr a = e->attr;
	bool lowered = lower_clock_rate(&a);

	if (a.type != PERF_TYPE_HARDWARE || (uint32_t)a.config != PERF_COUNT_HW_CPU_CYCLES)
		return false;
	if (lowered && e->rate == RATE_STRICT) {
		log_at(l->log, LOG_ERROR, "'--strict-freq': cpu-clock is not sampled instead, as "
		       "that would be at %u Hz at most", CLOCK_MAX_FREQ);
		return false;
	}
	make_clock(e, &a);
	if (lowered)
		log_at(l->log, e->rate == RATE_ANY ? LOG_WARNING : LOG_ERROR,
		       "no hardware counter for cycles here: sampling cpu-clock instead, at %u Hz",
		       CLOCK_MAX_FREQ);
	else
		log_at(l->log, LOG_WARNING,
		       "no hardware counter for cycles here: sampling cpu-clock instead");
	return true;
}

static bool try_less_precise(struct event *e)
{
	unsigned int level = attr_precise_ip(&e->attr);

	if (!e->precise_max || !level)
		return false;
	attr_set_precise_ip(&e->attr, level - 1);
	return true;
}

/* The kernel may allow less than the default rate: the sysctl was lowered by an administrator,
 * or by the kernel when sampling took too long. */
static bool try_allowed_rate(struct event_list *l, const struct event *e)
{
	uint64_t most = (uint64_t)sysctl_read("perf_event_max_sample_rate", 100000);

	if (!(e->attr.flags & ATTR_FREQ) || e->attr.sample_period <= most)
		return false;
	if (e->rate == RATE_STRICT) {
		log_at(l->log, LOG_ERROR, "'--strict-freq': the kernel allows %llu samples per "
		       "second (kernel.perf_event_max_sample_rate)", (unsigned long long)most);
		return false;
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.flags & ATTR_FREQ && l->items[i].attr.sample_period > most)
			l->items[i].attr.sample_period = most;
	log_at(l->log, e->rate == RATE_ANY ? LOG_DETAIL : LOG_ERROR,
	       "the frequency of %s is lowered to %llu Hz (kernel.perf_event_max_sample_rate)",
	       e->name, (unsigned long long)most);
	return true;
}

/* Some PMUs can't tell hosts from guests. */
static bool try_any_guest(struct event_list *l, const struct event *e)
{
	if (!(e->attr.flags & ATTR_EXCLUDE_GUEST))
		return false;
	for (size_t i = 0; i < l->n; i++)
		l->items[i].attr.flags &= ~ATTR_EXCLUDE_GUEST;
	return true;
}

static bool try_more_files(struct fallback *f)
{
	struct rlimit limit;

	if (f->more_files || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
		return false;
	f->more_files = true;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Kernels before 6.12 refuse to inherit events with PERF_SAMPLE_READ. */
static bool try_not_inherited(struct event_list *l, const struct event *e)
{
	if (!(e->attr.flags & ATTR_INHERIT) || !(e->attr.sample_type & PERF_SAMPLE_READ))
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].attr.sample_type & PERF_SAMPLE_READ)
			l->items[i].attr.flags &= ~ATTR_INHERIT;
	log_at(l->log, LOG_DETAIL,
	       "%s: new tasks are not recorded: this kernel can't inherit events with :S", e->name);
	return true;
}

static bool try_no_weak_group(struct event_list *l, const struct event *e)
{
	size_t leader = e->leader;

	if (!e->weak_group || &l->items[leader] == e)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		struct event *m = &l->items[i];

		if (m->leader != leader || i == leader)
			continue;
		m->leader = i;
		m->attr.flags |= l->items[leader].attr.flags &
				 (ATTR_DISABLED | ATTR_ENABLE_ON_EXEC);
		m->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	}
	l->items[leader].attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	log_at(l->log, LOG_DETAIL, "the group of %s does not fit the PMU: its events are counted "
	       "separately", l->items[leader].name);
	return true;
}

bool fallback_next(struct fallback *f, struct event_list *l, size_t event, int error)
{
	struct event *e = &l->items[event];
	bool changed = false;

	switch (error) {
	case EACCES:
	case EPERM:
		return try_user_only(f, l, e);
	case EMFILE:
		return try_more_files(f);
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return try_clock(l, e);
	case EOPNOTSUPP:
		changed = try_less_precise(e) || try_clock(l, e) || try_any_guest(l, e);
		break;
	case EINVAL:
		changed = try_allowed_rate(l, e) || try_no_weak_group(l, e) ||
			  try_less_precise(e) || try_not_inherited(l, e) || next_step(f, l, e);
		break;
	default:
		break;
	}
	if (!changed)
		restore_attrs(f, l);
	return changed;
}

void fallback_done(struct fallback *f, const struct event_list *l)
{
	for (size_t s = 0; s < NR_STEPS; s++) {
		if (!(f->dropped & 1u << s))
			continue;
		if (kernel_is_at_least_text(steps[s].since))
			log_at(l->log, steps[s].quiet ? LOG_DETAIL : LOG_WARNING,
			       "recording without %s (refused by this kernel)", steps[s].what);
		else
			log_at(l->log, steps[s].quiet ? LOG_DETAIL : LOG_WARNING,
			       "recording without %s (needs Linux %s)", steps[s].what,
			       steps[s].since);
	}
	free(f->original);
	f->original = NULL;
}
