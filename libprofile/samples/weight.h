/* weight.h - the events of a recording, and what a sample of each weighs. */
#ifndef PP_WEIGHT_H
#define PP_WEIGHT_H

#include "pd/profile.h"

/* sysctl kernel.perf_event_max_stack, as the kernel has it at first. */
enum { PP_KERNEL_STACK_MAX = 127 };

/* The most bytes of a stack that the kernel copies. */
enum { PP_KERNEL_COPY_MAX = 65528 };

/* The weight that no sample reaches: 2 years of a clock, or of a CPU at 1 GHz. */
#define PP_WEIGHT_LIMIT (UINT64_C(1) << 56)

struct pp_weigher {
	char name[512];
	uint64_t period, frequency;	/* of the attribute; one of them is 0 */
	uint32_t max_stack;	/* addresses of a chain at most; 0: as the kernel is set */
	uint32_t copied_bytes;	/* of a stack at most; 0: none */
	bool is_time, is_tracepoint, has_no_weight;
	bool is_read;		/* samples have counter values, see reads.h */
	bool is_inherited;
	bool copies_stacks;	/* samples have user registers, and mostly a stack */
	bool has_call_stacks;	/* that the CPU recorded as branches */
	bool lacks_kernel;	/* call chains are of user space only: --user-callchains */
	bool has_accesses;	/* an event by a number of the CPU, with facts about memory */
	bool is_bpf_output;	/* samples have what a BPF program wrote */
	bool is_switch;		/* sched:sched_switch */
	bool is_wait;		/* offcpu-time of perf record --off-cpu: each sample is a wait */
	bool is_off_cpu;	/* no event of the recording, see offcpu.h */
};

/* Sets *w to how samples of an event are weighed. */
void pp_weigher_init(struct pp_weigher *w, const struct pd_reader *r, const struct pd_attr *a);

/* Returns the weight of a sample: its period; the event's, if samples have none. The frequency is
 * no period, so that of a sample without one is 1. */
uint64_t pp_weigh(const struct pp_weigher *w, const struct pd_fields *sample);

/* Returns whether a sample can weigh that much: no counter counts so far from one sample to the
 * next, unless the period that was asked for is as large. */
bool pp_is_credible(const struct pp_weigher *w, uint64_t weight);

/* Returns the period that was asked for, of clocks with a frequency its inverse; 0: the kernel
 * adapts it. */
uint64_t pp_nominal_period(const struct pp_weigher *w);

#endif
