/* order_runs.h - sorted runs of items in a temporary file, merged when they are read. */
#ifndef PD_MODEL_ORDER_RUNS_H
#define PD_MODEL_ORDER_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/order_entry.h"
#include "pd/error.h"

/* The header of an item in the file. The meta bytes and the record follow, each padded to a
 * multiple of 8. */
struct pd_run_item {
	uint64_t time, seq;
	uint32_t meta_size, record_size;
};

static inline size_t pd_pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static inline size_t pd_run_payload(const struct pd_run_item *i)
{
	return pd_pad8(i->meta_size) + pd_pad8(i->record_size);
}

struct pd_runs;

/* Creates an empty set of runs. Each run that is being read has a buffer of `buffer` bytes, or of
 * its largest item. The file is created with the first run. Returns NULL without memory. */
struct pd_runs *pd_runs_new(struct pd_budget *b, size_t buffer, uint64_t tempfile_limit);
void pd_runs_free(struct pd_runs *r);

/* Writes a run: one begin, ascending writes and one finish. After a failed write or finish it must
 * be abandoned; earlier runs are not affected. */
int pd_runs_begin(struct pd_runs *r, struct pd_error *e);
int pd_runs_write(struct pd_runs *r, const struct pd_run_item *head, const void *payload,
		  struct pd_error *e);
int pd_runs_finish(struct pd_runs *r, struct pd_error *e);
void pd_runs_abandon(struct pd_runs *r);

/* Returns 1 and the key of the smallest item of all runs, 0 if there is none, -1 and *e. */
int pd_runs_first(struct pd_runs *r, struct pd_order_entry *key, struct pd_error *e);
/* Takes that item: its payload follows *head. Valid until the next call for r. */
int pd_runs_take(struct pd_runs *r, const struct pd_run_item **head, struct pd_error *e);

#endif
