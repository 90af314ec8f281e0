/* encode_events.c - find events by name, for records that state neither index nor id. */
#include "output/encode.h"

#include <stdlib.h>
#include <string.h>

#define INITIAL_CREDIT (1u << 20)
#define LOOKUP_CREDIT 64	/* events that each lookup allows to be sorted again */

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
	struct pd_attr **bigger = realloc(events->by_name,
					  (s->nr_attrs + 1) * sizeof(struct pd_attr *));

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

/* Events may be added or renamed between any two records; the number of sorts is limited, so that
 * the total time is linear. */
static int update_sorted_events(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const struct pd_session *s = &enc->session;
	struct pd_encode_events *events = &enc->events;

	events->credit += events->by_name ? LOOKUP_CREDIT : INITIAL_CREDIT;
	if (events->by_name && events->nr_attrs == s->nr_attrs && events->renames == s->renames)
		return 0;
	if (events->by_name && events->credit < s->nr_attrs)
		return pd_encode_fail(e, PD_E_ARGUMENT, "attr_index",
				      "expected the event's index, as names change too often here");
	events->credit -= events->credit < s->nr_attrs ? events->credit : s->nr_attrs;
	return sort_events(enc, e);
}

int pd_encode_look_up_event(struct pd_encoder *enc, const char *name, const struct pd_attr **out,
			    struct pd_encode_error *e)
{
	const struct pd_encode_events *events = &enc->events;
	size_t first = 0, end;

	if (update_sorted_events(enc, e))
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

int pd_encode_find_event(struct pd_encoder *enc, const char *name, const struct pd_attr **out,
			 struct pd_encode_error *e)
{
	if (pd_encode_look_up_event(enc, name, out, e))
		return -1;
	if (*out)
		pd_encode_use_name(enc, *out);
	return 0;
}
