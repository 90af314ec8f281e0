/* weight.c - the events of a recording, and what a sample of each weighs. */
#include "samples/weight.h"

#include <stdio.h>
#include <string.h>

#include "pd/enums.h"
#include "pd/history.h"

enum { NS_IN_S = 1000000000 };

#define FACTS_OF_ACCESSES (PD_SAMPLE_ADDR | PD_SAMPLE_DATA_SRC | PD_SAMPLE_WEIGHT | \
			   PD_SAMPLE_WEIGHT_STRUCT | PD_SAMPLE_PHYS_ADDR | \
			   PD_SAMPLE_DATA_PAGE_SIZE | PD_SAMPLE_CODE_PAGE_SIZE)

struct facts {
	uint64_t type, config, period, frequency, max_stack, flags, copied_bytes;
	unsigned int depth;	/* of objects: the attribute's own fields are in one or none */
};

static void take_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	const char *name = pd_field_name(f);
	struct facts *facts = ctx;

	if (facts->depth > 1)
		return;
	if (strcmp(name, "type") == 0)
		facts->type = value;
	else if (strcmp(name, "config") == 0)
		facts->config = value;
	else if (strcmp(name, "sample_period") == 0)
		facts->period = value;
	else if (strcmp(name, "sample_freq") == 0)
		facts->frequency = value;
	else if (strcmp(name, "flags") == 0)
		facts->flags = value;
	else if (strcmp(name, "sample_max_stack") == 0)
		facts->max_stack = value;
	else if (strcmp(name, "sample_stack_user") == 0)
		facts->copied_bytes = value;
}

static void enter_object(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct facts *)ctx)->depth++;
}

static void leave_object(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct facts *)ctx)->depth--;
}

void pp_weigher_init(struct pp_weigher *w, const struct pd_reader *r, const struct pd_attr *a)
{
	static const struct pd_visitor visitor = { .size = sizeof(visitor), .number = take_number,
						   .enter = enter_object, .leave = leave_object };
	const uint64_t sample_type = pd_attr_sample_type(a);
	struct facts facts = { .type = UINT64_MAX };

	pd_attr_visit(r, a, &visitor, &facts);
	*w = (struct pp_weigher){ .period = facts.frequency ? 0 : facts.period,
				  .frequency = facts.frequency };
	snprintf(w->name, sizeof(w->name), "%s", pd_attr_name(a));
	w->is_switch = strncmp(w->name, "sched:sched_switch", 18) == 0;
	w->is_tracepoint = facts.type == PD_TYPE_TRACEPOINT;
	w->is_wait = strcmp(w->name, "offcpu-time") == 0;
	w->is_time = w->is_wait || (facts.type == PD_TYPE_SOFTWARE &&
				    (facts.config == PD_COUNT_SW_CPU_CLOCK ||
				     facts.config == PD_COUNT_SW_TASK_CLOCK));
	w->is_read = sample_type & PD_SAMPLE_READ;
	w->copies_stacks = sample_type & PD_SAMPLE_REGS_USER;
	w->has_call_stacks = pd_attr_has_call_stacks(a);
	w->has_accesses = facts.type == PD_TYPE_RAW && sample_type & FACTS_OF_ACCESSES;
	w->is_bpf_output = facts.type == PD_TYPE_SOFTWARE &&
			   facts.config == PD_COUNT_SW_BPF_OUTPUT && sample_type & PD_SAMPLE_RAW;
	w->is_inherited = facts.flags & PD_ATTR_INHERIT;
	w->lacks_kernel = facts.flags & PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL;
	w->max_stack = (uint32_t)facts.max_stack;
	w->copied_bytes = (uint32_t)facts.copied_bytes;
	w->has_no_weight = facts.frequency && !w->is_read &&
			   !(sample_type & PD_SAMPLE_PERIOD);
	if (w->has_no_weight)
		w->is_time = false;
}

uint64_t pp_nominal_period(const struct pp_weigher *w)
{
	return w->is_time && w->frequency ? NS_IN_S / w->frequency : w->period;
}

bool pp_is_credible(const struct pp_weigher *w, uint64_t weight)
{
	return weight < PP_WEIGHT_LIMIT || weight / 2 <= w->period;
}

uint64_t pp_weigh(const struct pp_weigher *w, const struct pd_fields *sample)
{
	if (sample->has & PD_HAS_PERIOD)
		return sample->period;
	return w->period ? w->period : 1;
}
