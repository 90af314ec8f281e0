/* event.h - what -e asks for: perf_event_attr and all that goes with it. */
#ifndef RECORD_EVENT_H
#define RECORD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/log.h"
#include "base/parse.h"

enum callchain_mode {
	CALLCHAIN_UNSET,
	CALLCHAIN_NONE,
	CALLCHAIN_FP,
	CALLCHAIN_DWARF,
	CALLCHAIN_LBR,
};

enum choice { CHOICE_UNSET, CHOICE_NO, CHOICE_YES };

/* Terms between slashes that stand above the options: cycles/period=1000,call-graph=fp/. */
struct event_terms {
	bool has_period, has_freq, has_max_stack;
	uint64_t period, freq, branch_type, flags_set, flags_cleared;
	uint64_t sample_type, read_format;	/* beside what options ask for */
	enum callchain_mode callchain;
	uint32_t stack_size, aux_sample_size;
	uint16_t max_stack;
	enum choice time, inherit, overwrite, aux_output, percore;
};

/* Whose data an AUX area holds: the numbers of AUXTRACE_INFO. */
enum aux_pmu {
	AUX_NONE, AUX_INTEL_PT, AUX_INTEL_BTS, AUX_CS_ETM, AUX_ARM_SPE, AUX_S390_CPUMSF,
	AUX_HISI_PTT,
};

struct event {
	char *name;
	struct event_attr attr;
	struct event_terms terms;
	uint32_t clock_freq;		/* at most, where a clock takes its place */
	size_t leader;			/* index of the group's first event, or its own */
	bool sample_read, weak_group, precise_max;
	bool modified;			/* u, k or h was given: no fallback to user space */
	bool machines_given;		/* G or H was */
	bool tracking;			/* its side-band records tell of tasks and maps */
	bool helper;			/* not the user's: only for side-band records */
	unsigned int argv_index;		/* in argv, of its -e */
	unsigned int spec;		/* number of the specification; events of one pattern share it */
	char *filter, *cgroup;
	char *group_name;		/* of the group that it leads, or NULL */
	int cgroup_fd;			/* -1 */
	struct int_list cpus;		/* of its PMU; empty: any */
	bool system_wide;		/* its PMU knows no tasks */
	enum aux_pmu aux;
	char *pmu;			/* the PMU's name, where it has an AUX area; or NULL */
	char *unit;			/* of its counts, or NULL */
	double scale;			/* 0: none */
	char *probe;			/* what attr.config1 points to, or NULL */
	char *created;			/* "kprobe_events -:group/name", to remove it; or NULL */
};

struct event_list {
	struct event *items;
	size_t n;
	unsigned int specs;		/* read so far, by which they are numbered */
	const struct logger *log;
};

/* Adds the events of one -e. 0, or -1 after saying what is wrong. */
int events_parse(struct event_list *l, const char *text, unsigned int argv_index);
void events_free(struct event_list *l);	/* and removes the probes that were created */

/* Parts of the parser. NULL: no memory. */
struct event *events_add(struct event_list *l, const char *name, uint32_t type, uint64_t config);
struct event *events_last(struct event_list *l);
char *event_text(const char *text, size_t size);	/* for free(), NULL: no memory */
char *event_trim(char *text);		/* without the blanks around it: cut off, stepped over */
int event_no_memory(const struct event_list *l);	/* says so; -1 */

#endif
