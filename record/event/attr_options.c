/* attr_options.c - parse -F, -g, -d, -j, -k and the like. */
#include "event/attr_options.h"

#include <string.h>
#include <time.h>

#include "base/sysctl.h"
#include "event/event_terms.h"
#include "event/regs.h"

enum { DEFAULT_FREQ = 4000, DEFAULT_STACK = 8192 };

static bool parse_clock(const char *name, int *clock)
{
	static const struct { const char *name; int clock; } clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC }, { "mono", CLOCK_MONOTONIC },
		{ "monotonic_raw", CLOCK_MONOTONIC_RAW }, { "mono_raw", CLOCK_MONOTONIC_RAW },
		{ "raw", CLOCK_MONOTONIC_RAW },
		{ "realtime", CLOCK_REALTIME }, { "real", CLOCK_REALTIME },
		{ "boottime", CLOCK_BOOTTIME }, { "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};
	uint64_t number;

	/* Clocks of a thread or a process can't be used. */
	for (size_t i = 0; parse_number(name, &number) && i < sizeof(clocks) / sizeof(clocks[0]);
	     i++) {
		if ((uint64_t)clocks[i].clock != number)
			continue;
		*clock = (int)number;
		return true;
	}
	if (strncasecmp(name, "CLOCK_", 6) == 0)
		name += 6;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (strcasecmp(clocks[i].name, name) != 0)
			continue;
		*clock = clocks[i].clock;
		return true;
	}
	return false;
}

/* The kernel refuses frequencies above the sysctl. */
static int limit_freq(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;
	long most;

	/* Lower the default only if the kernel refuses it: see fallback.c. */
	if (!o->freq)
		return 0;
	most = sysctl_read("perf_event_max_sample_rate", 100000);
	if (strcmp(o->freq, "max") == 0)
		a->freq = (uint64_t)most;
	if (a->freq <= (uint64_t)most)
		return 0;
	if (o->strict_freq)
		return log_error(log, CLI_INPUT,
				 "the kernel allows %ld samples per second, not %llu. "
				 "Try: sudo sysctl kernel.perf_event_max_sample_rate=%llu",
				 most, (unsigned long long)a->freq, (unsigned long long)a->freq);
	log_at(log, LOG_ERROR, "the frequency is lowered to %ld Hz "
	       "(kernel.perf_event_max_sample_rate)", most);
	a->freq = (uint64_t)most;
	return 0;
}

static int read_rate(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;

	a->rate_given = o->freq || o->period != NOT_GIVEN;
	if (a->rate_given && !(o->freq && strcmp(o->freq, "max") == 0))
		a->rate = o->strict_freq ? RATE_STRICT : RATE_GIVEN;
	if (o->freq && o->period != NOT_GIVEN)
		return log_error(log, CLI_USAGE, "-F and -c exclude each other");
	if (o->period != NOT_GIVEN) {
		if (!o->period || o->period >> 63)
			return log_error(log, CLI_USAGE, "'-c' must be at least 1, below 2^63");
		a->period = o->period;
		return 0;
	}
	a->freq = DEFAULT_FREQ;
	if (o->freq && strcmp(o->freq, "max") != 0 && !parse_number(o->freq, &a->freq))
		return log_error(log, CLI_USAGE, "'-F' must be a number or max, not '%s'", o->freq);
	if (!a->freq)
		return log_error(log, CLI_USAGE, "'-F' must be at least 1, or max; use -n to count "
				 "without samples");
	return limit_freq(a, log);
}

static int read_callchain(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;
	uint64_t frames;

	a->stack_size = DEFAULT_STACK;
	a->callchain = o->callgraph ? CALLCHAIN_FP : CALLCHAIN_NONE;
	if (o->callgraph_mode && !parse_callchain(o->callgraph_mode, &a->callchain, &a->stack_size))
		return log_error(log, CLI_USAGE,
				 "'--call-graph' must be fp, dwarf[,SIZE up to 65528] or lbr, "
				 "not '%s'", o->callgraph_mode);
	if (o->no_callgraph)
		a->callchain = CALLCHAIN_NONE;
	if (!o->max_stack)
		return 0;
	if (!parse_number(o->max_stack, &frames) || frames > UINT16_MAX)
		return log_error(log, CLI_USAGE, "'--max-stack' must be a number, not '%s'",
				 o->max_stack);
	a->max_stack = (uint16_t)frames;
	return 0;
}

static int read_branches(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;

	if (o->branch_any)
		a->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
	for (size_t i = 0; i < o->branches.count; i++)
		if (!parse_branch_filter(o->branches.items[i], &a->branch_sample_type))
			return log_error(log, CLI_USAGE, "'-j %s': unknown kind of branch",
					 o->branches.items[i]);
	a->branch_sample_type = branches_of_any_kind(a->branch_sample_type);
	if (a->branch_sample_type)
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	return 0;
}

static int read_registers(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;
	const char *wrong = NULL;

	if (o->user_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		wrong = regs_parse(o->user_regs, &a->regs_user) ? NULL : o->user_regs;
	}
	if (o->intr_regs && !wrong) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		wrong = regs_parse(o->intr_regs, &a->regs_intr) ? NULL : o->intr_regs;
	}
	if (!wrong)
		return 0;
	return log_error(log, CLI_USAGE, "'%s' names unknown registers; --user-regs=? lists them",
			 wrong);
}

static int read_clock_and_aux(struct attr_options *a, const struct logger *log)
{
	const struct settings *o = a->o;
	uint64_t size;

	a->use_clockid = o->clock != NULL;
	if (o->clock && !parse_clock(o->clock, &a->clockid))
		return log_error(log, CLI_USAGE,
				 "'-k' must be mono, mono_raw, real, boot, tai or the number of "
				 "one of these (1, 4, 0, 7, 11), not '%s'", o->clock);
	if (!o->aux_sample)
		return 0;
	if ((!parse_number(o->aux_sample, &size) && !parse_size(o->aux_sample, &size)) ||
	    size > UINT32_MAX)
		return log_error(log, CLI_USAGE, "'--aux-sample' must be a size, not '%s'",
				 o->aux_sample);
	a->sample_type |= PERF_SAMPLE_AUX;
	a->aux_sample_size = (uint32_t)size;
	return 0;
}

static void read_fields(struct attr_options *a)
{
	const struct settings *o = a->o;
	const struct { bool given; uint64_t bits; } rows[] = {
		{ o->timestamp, PERF_SAMPLE_TIME },
		{ o->period_field, PERF_SAMPLE_PERIOD },
		{ o->data, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC },
		{ o->phys_data, PERF_SAMPLE_PHYS_ADDR },
		{ o->data_page_size, ABI_SAMPLE_DATA_PAGE_SIZE },
		{ o->code_page_size, ABI_SAMPLE_CODE_PAGE_SIZE },
		{ o->weight, ABI_SAMPLE_WEIGHT_STRUCT },
		{ o->raw, PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU },
		{ o->transaction, PERF_SAMPLE_TRANSACTION },
		{ o->sample_cpu, PERF_SAMPLE_CPU },
		{ o->identifier, PERF_SAMPLE_IDENTIFIER },
		{ o->all_cgroups, PERF_SAMPLE_CGROUP },
	};

	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		a->sample_type |= rows[i].given ? rows[i].bits : 0;
}

static void read_tracking(struct attr_options *a)
{
	const struct settings *o = a->o;
	const struct { bool given; uint64_t flags; } rows[] = {
		{ o->data, ATTR_MMAP_DATA },
		{ o->switch_events, ATTR_CONTEXT_SWITCH },
		{ o->namespaces, ATTR_NAMESPACES },
		{ o->all_cgroups, ATTR_CGROUP },
		{ o->ksymbol, ATTR_KSYMBOL },
		{ o->bpf_event, ATTR_BPF_EVENT },
		{ o->text_poke, ATTR_TEXT_POKE },
		{ o->buildid_mmap, ATTR_BUILD_ID },
	};

	a->tracking_flags = ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		a->tracking_flags |= rows[i].given ? rows[i].flags : 0;
}

int attr_options_read(struct attr_options *a, const struct settings *o, const struct logger *log)
{
	static int (*const parts[])(struct attr_options *, const struct logger *) = {
		read_rate, read_callchain, read_branches, read_registers, read_clock_and_aux,
	};

	*a = (struct attr_options){ .o = o };
	if (o->all_user && o->all_kernel)
		return log_error(log, CLI_USAGE, "--all-user and --all-kernel exclude each other");
	read_fields(a);
	read_tracking(a);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int err = parts[i](a, log);

		if (err)
			return err;
	}
	return 0;
}
