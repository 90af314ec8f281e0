/* event.h - events of -e: an attribute, and settings that it has no field for. */
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

/* Whether a rate may be lowered: one that nobody asked for or -F max, one that was given (and is
 * reported when it is lowered), one of --strict-freq. */
enum rate_demand { RATE_ANY, RATE_GIVEN, RATE_STRICT };

enum choice { CHOICE_UNSET, CHOICE_NO, CHOICE_YES };

/* Terms that override options: cycles/period=1000,call-graph=fp/. */
struct event_terms {
	bool has_period, has_freq, has_max_stack;
	uint64_t period, freq, branch_type, flags_set, flags_cleared;
	uint64_t sample_type, read_format;	/* in addition to the options' */
	enum callchain_mode callchain;
	uint32_t stack_size, aux_sample_size;
	uint16_t max_stack;
	enum choice time, inherit, overwrite, aux_output, percore;
};

/* The kind of data in an AUX area, numbered as in AUXTRACE_INFO. */
enum aux_pmu {
	AUX_NONE, AUX_INTEL_PT, AUX_INTEL_BTS, AUX_CS_ETM, AUX_ARM_SPE, AUX_S390_CPUMSF,
	AUX_HISI_PTT,
};

struct event {
	char *name;
	struct event_attr attr;
	struct event_terms terms;
	enum rate_demand rate;
	size_t leader;			/* index of the group's first event, or its own */
	bool sample_read, weak_group, precise_max;
	bool modified;			/* by u, k or h: no fallback to user space */
	bool machines_given;		/* by G or H */
	bool tracking;			/* carries the side-band records of tasks and maps */
	bool helper;			/* added by precord, only for side-band records */
	unsigned int argv_index;	/* of its -e */
	unsigned int spec;		/* number; all events of a pattern share it */
	char *filter, *cgroup;
	char *group_name;		/* of the group that it leads, or NULL */
	int cgroup_fd;			/* -1: none */
	struct int_list cpus;		/* of its PMU; empty: any */
	bool system_wide;		/* its PMU can't follow tasks */
	enum aux_pmu aux;
	char *pmu;			/* the PMU's name, if it has an AUX area; or NULL */
	char *unit;			/* of its counts, or NULL */
	double scale;			/* 0: none */
	char *probe;			/* the string at attr.config1, or NULL */
	char *created;			/* "kprobe_events -:group/name", to remove it; or NULL */
};

struct event_list {
	struct event *items;
	size_t n;
	unsigned int specs;		/* read so far, by which they are numbered */
	bool inherited;			/* new tasks of the target inherit the events */
	const struct logger *log;
};

/* Adds the events of one -e. Returns 0, or -1 after logging the error. */
int events_parse(struct event_list *l, const char *text, unsigned int argv_index);
/* Frees the list; removes the probes that were created for it. */
void events_free(struct event_list *l);

/* --- event_list.c --- */

#define EVENT_BLANKS " \t\n"

/* For the files of the parser. Returns NULL if memory is short. */
struct event *events_add(struct event_list *l, const char *name, uint32_t type, uint64_t config);
struct event *events_last(struct event_list *l);
/* Returns how many events have this leader: 1 if it is in no group, 0 if it leads none. */
size_t events_of_leader(const struct event_list *l, size_t leader);
/* Returns a copy that the caller frees, or NULL if memory is short. */
char *event_text(const char *text, size_t size);
/* Returns the length of the text up to `end`, but not one in quotes. */
size_t event_size_to(const char *text, char end);
/* Cuts trailing blanks off the text, and returns its first character that is not blank. */
char *event_trim(char *text);
/* Logs the error and returns -1. */
int event_no_memory(const struct event_list *l);

#endif
