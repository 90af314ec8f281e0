/* totals.h - times and losses of all records, for summary and statistics. */
#ifndef PD_STATS_TOTALS_H
#define PD_STATS_TOTALS_H

#include "stream/batch.h"

struct pd_totals {
	uint64_t first_time, last_time;	/* ns; 0: no record has a time */
	uint64_t lost, lost_samples;
};

static inline void pd_totals_time(struct pd_totals *t, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	if (!t->first_time || time < t->first_time)
		t->first_time = time;
	if (time > t->last_time)
		t->last_time = time;
}

static inline void pd_totals_lost(struct pd_totals *t, uint32_t type, uint64_t n)
{
	if (type == PD_RECORD_LOST)
		t->lost += n;
	else
		t->lost_samples += n;
}

static inline bool pd_totals_is_lost(uint32_t type)
{
	return type == PD_RECORD_LOST || type == PD_RECORD_LOST_SAMPLES;
}

static inline void pd_totals_record(struct pd_totals *t, const struct pd_record *r)
{
	const uint32_t type = r->frame.type;
	uint64_t n;

	if (pd_record_hot_time(r, &n))
		pd_totals_time(t, n);
	if (pd_totals_is_lost(type) && pd_record_number(r, PD_OF_BODY, PD_HOT_LOST, &n))
		pd_totals_lost(t, type, n);
}

static inline void pd_totals_simple(struct pd_totals *t, const struct pd_batch *batch,
				    const struct pd_simple *p, enum pd_swap swap)
{
	uint64_t n = 0;

	if (pd_simple_time(batch, p, swap, &n))
		pd_totals_time(t, n);
	if (pd_totals_is_lost(p->type) && pd_simple_number(batch, p, PD_HOT_LOST, swap, &n))
		pd_totals_lost(t, p->type, n);
}

/* Adds the totals of another thread. */
static inline void pd_totals_add(struct pd_totals *t, const struct pd_totals *more)
{
	pd_totals_time(t, more->first_time);
	pd_totals_time(t, more->last_time);
	t->lost += more->lost;
	t->lost_samples += more->lost_samples;
}

#endif
