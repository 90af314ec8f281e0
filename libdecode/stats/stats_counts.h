/* stats_counts.h - how many records of which kind there are: what statistics are made of. */
#ifndef PD_STATS_STATS_COUNTS_H
#define PD_STATS_STATS_COUNTS_H

#include "model/filter.h"
#include "stats/totals.h"

#define PD_STATS_COUNTS_TYPES 128	/* above them are a few of Android's, and what nobody knows */
#define PD_STATS_COUNTS_HIGH 16

struct pd_number_of {
	uint64_t records, bytes;
};

struct pd_event_count {
	struct pd_number_of all;
	uint64_t samples, period;
	bool has_period;
};

struct pd_stats_counts {
	struct pd_budget own;
	struct pd_number_of by_type[PD_STATS_COUNTS_TYPES], unknown;
	struct {
		const struct pd_record_desc *desc;
		struct pd_number_of all;
	} high[PD_STATS_COUNTS_HIGH];
	struct pd_event_count *events;	/* by index */
	size_t nr_events;
	struct pd_totals totals;
	struct pd_number_of compressed;	/* bytes: before */
	uint64_t expanded;		/* bytes after */
	uint64_t damaged, skipped;
	struct {
		struct pd_number_of *of;	/* the last record, if data follow it that are not known to be there; else NULL */
		uint64_t bytes;			/* counted for it */
	} last;
};

void pd_stats_counts_init(struct pd_stats_counts *c);
void pd_stats_counts_free(struct pd_stats_counts *c);

/* What the filter, which may be NULL, leaves of them. 0, or -1: no memory. */
int pd_stats_counts_record(struct pd_stats_counts *c, struct pd_filter *filter, const struct pd_record *r);
int pd_stats_counts_batch(struct pd_stats_counts *c, struct pd_filter *filter, struct pd_batch *batch, struct pd_session *s);
/* The input ends in the data after the last record: it has `have` bytes with them. */
void pd_stats_counts_payload_ends(struct pd_stats_counts *c, uint64_t have);

void pd_number_of_add(struct pd_number_of *c, const struct pd_number_of *more);

#endif
