/* stats_counts.h - counts of records by type and event, for statistics. */
#ifndef PD_STATS_STATS_COUNTS_H
#define PD_STATS_STATS_COUNTS_H

#include "model/filter.h"
#include "stats/totals.h"

#define PD_STATS_COUNTS_TYPES 128	/* higher types are Android's or unknown */
#define PD_STATS_COUNTS_HIGH 16

struct pd_record_count {
	uint64_t records, bytes;
};

struct pd_event_count {
	struct pd_record_count all;
	uint64_t samples, period;
	bool has_period;
};

struct pd_stats_counts {
	struct pd_budget own;
	struct pd_record_count by_type[PD_STATS_COUNTS_TYPES], unknown;
	struct {
		const struct pd_record_desc *desc;
		struct pd_record_count all;
	} high[PD_STATS_COUNTS_HIGH];
	struct pd_event_count *events;	/* by index */
	size_t nr_events;
	struct pd_totals totals;
	struct pd_record_count compressed;	/* COMPRESSED records */
	uint64_t expanded;			/* bytes of the inner records */
	uint64_t damaged, skipped;
	struct {
		struct pd_record_count *of;	/* of its type; NULL: no payload that may be cut */
		uint64_t bytes;			/* counted for the record */
	} last;					/* record */
};

void pd_stats_counts_init(struct pd_stats_counts *c);
void pd_stats_counts_free(struct pd_stats_counts *c);

/* Count what the filter (NULL: none) keeps. Return 0, or -1 if there is no memory or the filter
 * failed. */
int pd_stats_counts_record(struct pd_stats_counts *c, struct pd_filter *filter,
			   const struct pd_record *r);
int pd_stats_counts_batch(struct pd_stats_counts *c, struct pd_filter *filter,
			  struct pd_batch *batch, struct pd_session *s);
/* Must be called if the input ends in the last record's payload: `have` bytes of both exist. */
void pd_stats_counts_payload_ends(struct pd_stats_counts *c, uint64_t have);

void pd_record_count_add(struct pd_record_count *c, const struct pd_record_count *more);

#endif
