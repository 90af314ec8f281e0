/* encode_events.c - finds events by their names, for records that state neither index nor id. */
#include "output/encode.h"

#include <stdlib.h>
#include <string.h>

#define CREDIT_FIRST (1u << 20)
#define CREDIT_OF_LOOKUP 64	/* events that each lookup allows to be sorted */

static int compare_attrs(const void *a, const void *b)
{
	const struct pd_attr *x = *(struct pd_attr *const *)a, *y = *(struct pd_attr *const *)b;
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int sort_events(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	struct pd_encode_events *events = &enc->events;
	struct pd_attr **bigger = realloc(events->by_name, (s->nr_attrs + 1) * sizeof(struct pd_attr *));

	if (!bigger)
		return pd_encode_no_memory(e);
	events->by_name = bigger;
	events->nr_named = 0;
	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->name)
			bigger[events->nr_named++] = s->attrs[i];
	qsort(bigger, events->nr_named, sizeof(struct pd_attr *), compare_attrs);
	events->nr_attrs = s->nr_attrs;
	events->renames = s->renames;
	return 0;
}

/* Events may come, or change their names, between any two records: how often they are sorted again is limited, so that the whole
 * takes linear time. */
static int refresh(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	struct pd_encode_events *events = &enc->events;

	events->credit += events->by_name ? CREDIT_OF_LOOKUP : CREDIT_FIRST;
	if (events->by_name && events->nr_attrs == s->nr_attrs && events->renames == s->renames)
		return 0;
	if (events->by_name && events->credit < s->nr_attrs)
		return pd_encode_fail(e, PD_E_ARGUMENT, "attr_index",
				      "the event's index was expected: names change too often here");
	events->credit -= events->credit < s->nr_attrs ? events->credit : s->nr_attrs;
	return sort_events(enc, e);
}

int pd_encode_event_named(struct pd_encoder *enc, const char *name, const struct pd_attr **out, struct pd_encode_error *e)
{
	const struct pd_encode_events *events = &enc->events;
	size_t first = 0, end;

	if (refresh(enc, e))
		return -1;
	for (end = events->nr_named; first < end;) {
		const size_t middle = first + (end - first) / 2;

		if (strcmp(events->by_name[middle]->name, name) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	if (first < events->nr_named && strcmp(events->by_name[first]->name, name) == 0)
		*out = events->by_name[first];
	return 0;
}
