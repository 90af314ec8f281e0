/* stats_counts.c - counts records: see stats_counts.h. */
#include "stats/stats_counts.h"

#include <string.h>

#define OWN_MEMORY (64u << 20)

void pd_stats_counts_init(struct pd_stats_counts *c)
{
	*c = (struct pd_stats_counts){ .own.limit = OWN_MEMORY };
}

void pd_stats_counts_free(struct pd_stats_counts *c)
{
	pd_budget_free(&c->own, c->events, c->nr_events * sizeof(*c->events));
	c->events = NULL;
	c->nr_events = 0;
}

static void count_record(struct pd_record_count *c, uint64_t bytes)
{
	c->records++;
	c->bytes += bytes;
}

void pd_record_count_add(struct pd_record_count *c, const struct pd_record_count *more)
{
	c->records += more->records;
	c->bytes += more->bytes;
}

static struct pd_record_count *find_high_count(struct pd_stats_counts *c,
					       const struct pd_record_desc *d)
{
	for (size_t i = 0; d && i < PD_STATS_COUNTS_HIGH; i++) {
		if (!c->high[i].desc)
			c->high[i].desc = d;
		if (c->high[i].desc == d)
			return &c->high[i].all;
	}
	return &c->unknown;
}

static struct pd_record_count *find_type_count(struct pd_stats_counts *c, const struct pd_record *r)
{
	const struct pd_record_desc *d = r->frame.desc;

	if (d && r->frame.type < PD_STATS_COUNTS_TYPES)
		return &c->by_type[r->frame.type];
	return find_high_count(c, d);
}

/* Returns NULL if there is no memory. */
static struct pd_event_count *find_event_count(struct pd_stats_counts *c, size_t index)
{
	const size_t bigger = index < 16 ? 32 : 2 * index;
	struct pd_event_count *events;

	if (index < c->nr_events)
		return &c->events[index];
	events = pd_budget_grow(&c->own, c->events, c->nr_events * sizeof(*events),
				bigger * sizeof(*events));
	if (!events)
		return NULL;
	c->events = events;
	c->nr_events = bigger;
	return &c->events[index];
}

static int count_event(struct pd_stats_counts *c, const struct pd_record *r, uint64_t bytes)
{
	struct pd_event_count *e = find_event_count(c, r->attr->index);
	uint64_t period;

	if (!e)
		return -1;
	count_record(&e->all, bytes);
	if (r->frame.type != PD_RECORD_SAMPLE)
		return 0;
	e->samples++;
	if (pd_record_number(r, PD_OF_BODY, PD_HOT_PERIOD, &period)) {
		e->period += period;
		e->has_period = true;
	}
	return 0;
}

static void count_compressed(struct pd_stats_counts *c, const struct pd_record *r, uint64_t bytes)
{
	if (r->frame.inner_offset != PD_OUTER)
		c->expanded += bytes;
	else if (r->frame.desc && r->frame.desc->compressed)
		count_record(&c->compressed, bytes);
}

void pd_stats_counts_payload_ends(struct pd_stats_counts *c, uint64_t have)
{
	if (c->last.of)
		c->last.of->bytes -= c->last.bytes - have;
	c->last.of = NULL;
}

int pd_stats_counts_record(struct pd_stats_counts *c, struct pd_filter *filter,
			   const struct pd_record *r)
{
	const bool is_held = r->payload.data;	/* then payload.size is what the input has of it */
	const uint64_t bytes = r->frame.bytes.size + (is_held ? r->payload.size : r->frame.payload);
	const int kept = filter ? pd_filter_keeps(filter, r) : 1;

	c->last.of = NULL;
	if (r->frame.state == PD_FRAME_SKIPPED) {
		c->skipped += bytes + r->frame.zeros;
		return 0;
	}
	if (kept <= 0)
		return kept;
	count_record(find_type_count(c, r), bytes);
	c->last.of = r->frame.payload && !is_held ? find_type_count(c, r) : NULL;
	c->last.bytes = bytes;
	c->damaged += r->error.code != PD_OK || r->frame.state == PD_FRAME_CUT;
	count_compressed(c, r, bytes);
	pd_totals_record(&c->totals, r);
	return r->attr ? count_event(c, r, bytes) : 0;
}

static inline void count_simple_event(struct pd_event_count *e, const struct pd_batch *batch,
				      const struct pd_simple *p, enum pd_swap swap)
{
	uint64_t period;

	count_record(&e->all, p->size);
	if (p->type != PD_RECORD_SAMPLE)
		return;
	e->samples++;
	if (pd_simple_number(batch, p, PD_HOT_PERIOD, swap, &period)) {
		e->period += period;
		e->has_period = true;
	}
}

int pd_stats_counts_batch(struct pd_stats_counts *c, struct pd_filter *filter,
			  struct pd_batch *batch, struct pd_session *s)
{
	const enum pd_swap swap = s->swap;
	const bool is_inner = batch->inner_offset != PD_OUTER;
	const struct pd_attr *last = NULL;
	struct pd_event_count *event = NULL;

	if (filter && pd_filter_batch(filter, batch, s))
		return -1;
	for (; batch->next < batch->count; batch->next++) {
		const struct pd_simple *p = &batch->records[batch->next];

		if (p->attr != last)
			event = find_event_count(c, p->attr->index);
		if (!event)
			return -1;
		last = p->attr;
		c->expanded += is_inner ? p->size : 0;
		count_record(&c->by_type[p->type], p->size);
		pd_totals_simple(&c->totals, batch, p, swap);
		count_simple_event(event, batch, p, swap);
	}
	return 0;
}
