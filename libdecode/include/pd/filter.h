/* filter.h - which records a sink takes.
 *
 * A criterion holds for the records that have what it asks for; the rest stay. Perf's own records (type 64 and up) are
 * dropped by `types` alone. Of the kernel's records
 * - pid and tid are the body's (MMAP2, COMM, FORK, ...), else those of the task it happened in; what says something about
 *   the kernel or the whole recording (KSYMBOL, BPF_EVENT, TEXT_POKE, CGROUP, LOST, LOST_SAMPLES, maps of pid -1) is no
 *   task's;
 * - comm is the thread's name at that record, by the COMM and FORK records before it;
 * - an event's name, with or without its modifiers (cycles for cycles:u), is asked of samples and counts only: a COMM
 *   or MMAP2 holds for all events;
 * - records that perf made up for what existed before the recording have neither time nor cpu.
 * Bytes that are no record always stay.
 */
#ifndef PD_FILTER_H
#define PD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_record;

struct pd_range {
	uint64_t from, to;	/* both are in it */
};

/* Any of these; a count of 0: everything. */
struct pd_ranges {
	const struct pd_range *items;
	size_t count;
};

/* Any of these, as fnmatch(3) understands them: "cycles*". A count of 0: everything. */
struct pd_globs {
	const char *const *items;
	size_t count;
};

struct pd_filter_options {
	size_t size;			/* sizeof(struct pd_filter_options) */
	struct pd_ranges types;		/* record types, by number */
	struct pd_ranges pids, tids, cpus;
	struct pd_globs comms, events;
	const struct pd_range *time;	/* ns of the recording's clock; NULL: any */
};

struct pd_filter;

/* Copies what the options point to. NULL: no memory. */
PD_API struct pd_filter *pd_filter_new(const struct pd_filter_options *o);
PD_API void pd_filter_free(struct pd_filter *f);	/* NULL is fine */

/* Sets another time; for who only knows it when the file is open. */
PD_API void pd_filter_set_time(struct pd_filter *f, struct pd_range ns);

/* 1: stays, 0: is dropped, -1: no memory for the names of threads. Ask once for each record, in their order. */
PD_API int pd_filter_keeps(struct pd_filter *f, const struct pd_record *r);

/* Records dropped so far. */
PD_API uint64_t pd_filter_dropped(const struct pd_filter *f);
/* SAMPLE records kept so far. */
PD_API uint64_t pd_filter_samples(const struct pd_filter *f);

/* Does one of pd_filter_options.events, `glob`, ask for an event of this name? */
PD_API bool pd_event_name_matches(const char *glob, const char *name);

/* The number of a record type's name, whatever its case: true and *type. */
PD_API bool pd_record_type_of(const char *name, uint32_t *type);
/* The i-th name that pd_record_type_of() knows, NULL behind the last. */
PD_API const char *pd_record_type_name_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
