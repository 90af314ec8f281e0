/* filter.h - selects the records that a sink takes.
 *
 * Each criterion applies only to records that have what it compares; other records are kept. perf's
 * own records (type 64 and up) are subject to `types` alone. For kernel records:
 * - pid and tid are those in the body (MMAP2, COMM, FORK, ...), else those of the task that was
 *   running. Records about the kernel or the whole recording belong to no task: KSYMBOL, BPF_EVENT,
 *   TEXT_POKE, CGROUP, LOST, LOST_SAMPLES, maps of pid -1.
 * - comm is the thread's name at the time of the record if there is a history (pd/history.h);
 *   without one, that which COMM and FORK records before it in the order of reading have set.
 * - events compares the event's name, with or without modifiers (cycles matches cycles:u), for
 *   samples and counts only: a COMM or MMAP2 holds for all events.
 * - a test of samples (pd_filter_set_test()) is asked last, about samples alone.
 * - synthesized records for what existed before the recording have neither time nor cpu.
 * Skipped bytes are always kept.
 *
 * A filter has state: calls on one filter must not overlap. Different filters are independent.
 */
#ifndef PD_FILTER_H
#define PD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/error.h"
#include "pd/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_history;
struct pd_record;

struct pd_range {
	uint64_t from, to;	/* inclusive */
};

/* Matches a number that is in any of the ranges. A count of 0 matches everything. */
struct pd_ranges {
	const struct pd_range *items;
	size_t count;
};

/* Matches a name that is one of the items, or that one of them matches as a fnmatch(3) pattern
 * ("cycles*"). A count of 0 matches everything. */
struct pd_globs {
	const char *const *items;
	size_t count;
};

struct pd_filter_options {
	size_t size;		/* PD_FILTER_OPTIONS() sets it */
	struct pd_ranges types;		/* record types, by number */
	struct pd_ranges pids, tids, cpus;
	struct pd_globs comms, events;
	const struct pd_range *time;	/* ns of the recording's clock; NULL: any */
};
#define PD_FILTER_OPTIONS(...) PD_OPTIONS_OF(pd_filter_options, __VA_ARGS__)

struct pd_filter;

/* Creates a filter. `o` and all that it points to is copied. `o` may be NULL: keeps everything.
 * Returns NULL without memory, or for invalid options. Release it with pd_filter_free(). */
PD_API struct pd_filter *pd_filter_new(const struct pd_filter_options *o);

/* Frees the filter. Sinks that borrow it must be closed before. `f` may be NULL. */
PD_API void pd_filter_free(struct pd_filter *f);

/* Replaces pd_filter_options.time, in ns; for a range that is known only once the file is open.
 * Must be called before the first record is filtered. */
PD_API void pd_filter_set_time(struct pd_filter *f, struct pd_range ns);

/* Returns pd_filter_options.time, 0 to UINT64_MAX if there is none, and removes it: for callers
 * that divide what lasts longer. Must be called before the first record is filtered. */
PD_API struct pd_range pd_filter_take_time(struct pd_filter *f);

/* Sets the history that `comms` looks names up in: sealed, of the same recording. Borrowed until
 * pd_filter_free(). Must be called before the first record is filtered. */
PD_API void pd_filter_set_history(struct pd_filter *f, const struct pd_history *h);

/* `keeps` is called for each sample that the options keep, by the thread that reads, and returns 1
 * to keep it, 0 to drop it, or -1 without memory. NULL: none. */
struct pd_sample_test {
	int (*keeps)(void *ctx, const struct pd_record *sample);
	void *ctx;
};

/* Sets a test that a sample must pass, too. Must be called before the first record is filtered. */
PD_API void pd_filter_set_test(struct pd_filter *f, struct pd_sample_test test);

/* Returns whether there is a test of samples. */
PD_API bool pd_filter_has_test(const struct pd_filter *f);

/* Returns 1 if the record is kept, 0 if it is dropped, -1 if there is no memory for thread names.
 * No filter (NULL) keeps every record. Must be called once for each record, in their order: COMM
 * and FORK update the thread names. */
PD_API int pd_filter_keeps(struct pd_filter *f, const struct pd_record *r);

/* Returns the number of records dropped so far. */
PD_API uint64_t pd_filter_dropped(const struct pd_filter *f);

/* Returns the number of SAMPLE records kept so far. */
PD_API uint64_t pd_filter_samples(const struct pd_filter *f);

/* Returns whether `glob`, one of pd_filter_options.events, matches an event of this name. Safe in
 * any thread. */
PD_API bool pd_event_name_matches(const char *glob, const char *name);

/* Finds a record type by its name, ignoring case, and sets *type. Returns false if there is none;
 * *type is then unchanged. Safe in any thread. */
PD_API bool pd_record_type_parse(const char *name, uint32_t *type);

/* Returns the i-th name that pd_record_type_parse() knows, NULL after the last. Static. Safe in any
 * thread. */
PD_API const char *pd_record_type_name_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
