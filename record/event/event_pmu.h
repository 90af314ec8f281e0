/* event_pmu.h - parts of the code for events of PMUs. */
#ifndef RECORD_EVENT_PMU_H
#define RECORD_EVENT_PMU_H

#include <dirent.h>

#include "event/event.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"

/* Opens the PMU's directory. Returns a descriptor, or -1. */
int pmu_open(const char *name);
/* Stores the names of all PMUs, sorted; the caller frees each and the array. Returns how many,
 * or -1. */
int pmu_scan(struct dirent ***names);
bool pmu_is_pattern(const char *text);
/* Whether `wanted` selects the PMU: its name, a pattern, or the name without its number
 * ("uncore_imc", "imc"). */
bool pmu_is_wanted(const char *name, const char *wanted);
bool pmu_lists_event(const char *name, const char *event);
/* ORs the low bits of value into the positions of `format`. False: it does not fit, or the format
 * is malformed. */
bool pmu_set_bits(struct event_attr *a, const char *format, uint64_t value);

struct pmu {
	const char *name;
	int dir;
	const char *terms;		/* the user's, all of them */
	const struct logger *log;
};

/* Sets the event's attribute from terms. Returns 0, or -1 after logging the error. */
int pmu_apply_terms(const struct pmu *p, struct event *e, const char *terms);
/* Whether the PMU knows all keys of the terms. */
bool pmu_has_terms(const char *name, const char *terms, const struct logger *log);

#endif
