/* totals.h - what a summary and statistics both tell of all records: from when to when they are, and how many were lost. */
#ifndef PD_STATS_TOTALS_H
#define PD_STATS_TOTALS_H

#include "stream/batch.h"

#define PD_TYPE_LOST 2
#define PD_TYPE_LOST_SAMPLES 13

struct pd_tally {
	uint64_t first_time, last_time;	/* ns; 0: no record had one */
	uint64_t lost, lost_samples;
};

static inline void pd_tally_time(struct pd_tally *t, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	if (!t->first_time || time < t->first_time)
		t->first_time = time;
	if (time > t->last_time)
		t->last_time = time;
}

static inline void pd_tally_lost(struct pd_tally *t, uint32_t type, uint64_t n)
{
	if (type == PD_TYPE_LOST)
		t->lost += n;
	else
		t->lost_samples += n;
}

static inline bool pd_tally_asks(uint32_t type)
{
	return type == PD_TYPE_LOST || type == PD_TYPE_LOST_SAMPLES;
}

static inline void pd_tally_record(struct pd_tally *t, const struct pd_record *r)
{
	const uint32_t type = r->frame.type;
	uint64_t n;

	if (pd_record_when(r, &n))
		pd_tally_time(t, n);
	if (pd_tally_asks(type) && pd_record_number(r, PD_OF_BODY, PD_USUAL_LOST, &n))
		pd_tally_lost(t, type, n);
}

static inline void pd_tally_plain(struct pd_tally *t, const struct pd_run *run, const struct pd_plain *p, enum pd_swap swap)
{
	uint64_t n = 0;

	if (pd_plain_time(run, p, swap, &n))
		pd_tally_time(t, n);
	if (pd_tally_asks(p->type) && pd_plain_number(run, p, PD_USUAL_LOST, swap, &n))
		pd_tally_lost(t, p->type, n);
}

/* What another thread has seen. */
static inline void pd_tally_add(struct pd_tally *t, const struct pd_tally *more)
{
	pd_tally_time(t, more->first_time);
	pd_tally_time(t, more->last_time);
	t->lost += more->lost;
	t->lost_samples += more->lost_samples;
}

#endif
