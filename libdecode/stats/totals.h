/* totals.h - times and losses of all records, for summary and statistics. */
#ifndef PD_STATS_TOTALS_H
#define PD_STATS_TOTALS_H

#include "stream/batch.h"

#define PD_TOTALS_GAP (1ull << 53)	/* 104 days, in ns: no recording has such a gap */

struct pd_totals {
	uint64_t first[2], last[2];	/* the least two times, and the largest two, ns; 0: none */
	uint64_t lost, lost_samples;
};

static inline void pd_totals_early(struct pd_totals *t, uint64_t time)
{
	if (!t->first[0] || time < t->first[0]) {
		t->first[1] = t->first[0];
		t->first[0] = time;
	} else if (!t->first[1] || time < t->first[1]) {
		t->first[1] = time;
	}
}

static inline void pd_totals_late(struct pd_totals *t, uint64_t time)
{
	if (time > t->last[0]) {
		t->last[1] = t->last[0];
		t->last[0] = time;
	} else if (time > t->last[1]) {
		t->last[1] = time;
	}
}

static inline void pd_totals_time(struct pd_totals *t, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	pd_totals_early(t, time);
	pd_totals_late(t, time);
}

/* Returns whether a time that is alone at one end can be left out: there are others. */
static inline bool pd_totals_has_more(const struct pd_totals *t)
{
	return t->first[1] && t->last[1] && t->first[1] <= t->last[1];
}

/* Returns the first time, 0 if there is none. One that is alone by more than a gap is damaged. */
static inline uint64_t pd_totals_first_time(const struct pd_totals *t)
{
	return t->first[pd_totals_has_more(t) && t->first[1] - t->first[0] > PD_TOTALS_GAP];
}

static inline uint64_t pd_totals_last_time(const struct pd_totals *t)
{
	return t->last[pd_totals_has_more(t) && t->last[0] - t->last[1] > PD_TOTALS_GAP];
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
	for (int i = 0; i < 2; i++) {
		if (more->first[i])
			pd_totals_early(t, more->first[i]);
		if (more->last[i])
			pd_totals_late(t, more->last[i]);
	}
	t->lost += more->lost;
	t->lost_samples += more->lost_samples;
}

#endif
