/* event_desc.c - updates the session from EVENT_DESC, whose events are those of the attrs section,
 * in its order.
 *
 * perf writes both from the same attributes. No valid file is known in which they differ, so a
 * difference is damage.
 */
#include "session/event_desc.h"

#include <string.h>

enum { SMALLEST_BLOCK = 64 };	/* bytes */

struct event_desc {
	struct pd_session *s;
	uint64_t offset;		/* of the section, for error reports */
	size_t index;			/* of the current event, from 1 */
	uint64_t attr_size, type, config;
	const uint8_t *attr;		/* the event's copy of its attribute: attr_size bytes */
	struct pd_bytes name;
};

static bool is_named(const struct pd_field *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

static void visit_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct event_desc *d = ctx;

	if (is_named(f, "attr_size"))
		d->attr_size = value;
	else if (is_named(f, "type"))
		d->type = value;
	else if (is_named(f, "config"))
		d->config = value;
}

/* Numbers in a row come with a pointer to the first one: that of an attribute's numbers is where
 * its bytes begin. */
static void visit_batch(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start,
			enum pd_swap swap)
{
	struct event_desc *d = ctx;

	if (ops[0].field == pd_file_attr_fields[0].fields)
		d->attr = start;
	for (size_t i = 0; i < n; i++)
		if (ops[i].kind != PD_PAD)
			visit_number(d, ops[i].field, pd_op_shown(&ops[i], start, swap));
}

static void visit_enter(void *ctx, const struct pd_field *f)
{
	struct event_desc *d = ctx;

	if (f)
		return;
	d->index++;
	d->attr = NULL;
}

static void visit_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	if (is_named(f, "name"))
		((struct event_desc *)ctx)->name = text;
}

static void report_difference(const struct event_desc *d, enum pd_code code,
			      enum pd_severity severity)
{
	if (d->s->report)
		d->s->report(d->s->report_ctx, &(struct pd_error){
			.code = code, .severity = severity, .record = "EVENT_DESC",
			.offset = d->offset });
}

enum difference { SAME, ZEROED, DIFFERENT };

/* Returns whether [first, last] is in a run of zeros that a zeroed block leaves: of its size, or up
 * to an end of the attribute. Other zeros are its own, and the copy is what is damaged. */
static bool is_in_zeroed_block(struct pd_bytes own, size_t first, size_t last)
{
	size_t begin = first, end = last + 1;

	if (!pd_all_zero((struct pd_bytes){ own.data + first, end - first }))
		return false;
	while (begin && !own.data[begin - 1])
		begin--;
	while (end < own.size && !own.data[end])
		end++;
	return !begin || end == own.size || end - begin >= SMALLEST_BLOCK;
}

/* Compares an attribute with its copy. Missing bytes of the shorter one count as zeros. */
static enum difference compare_attrs(struct pd_bytes own, struct pd_bytes copy)
{
	const size_t both = own.size < copy.size ? own.size : copy.size;
	size_t first = both, last = 0;

	if (!pd_all_zero((struct pd_bytes){ own.data + both, own.size - both }) ||
	    !pd_all_zero((struct pd_bytes){ copy.data + both, copy.size - both }))
		return DIFFERENT;
	for (size_t i = 0; i < both; i++) {
		if (own.data[i] == copy.data[i])
			continue;
		if (own.data[i])
			return DIFFERENT;
		first = first < i ? first : i;
		last = i;
	}
	if (first == both)
		return SAME;
	return is_in_zeroed_block(own, first, last) ? ZEROED : DIFFERENT;
}

/* Returns the attribute with the same index, restored if zeros have damaged it. */
static struct pd_attr *check_attr(struct event_desc *d)
{
	struct pd_attr *a = d->index <= d->s->nr_attrs ? d->s->attrs[d->index - 1] : NULL;
	const struct pd_bytes copy = { d->attr, (size_t)d->attr_size };

	if (!a || !d->attr)
		return a;
	switch (compare_attrs(a->bytes, copy)) {
	case ZEROED:
		if (pd_session_restore_attr(d->s, a, copy) == 0)
			report_difference(d, PD_E_RESTORED, PD_DAMAGED);
		break;
	case DIFFERENT:
		report_difference(d, PD_E_MISMATCH, PD_NOTE);
		break;
	case SAME:
		break;
	}
	return a;
}

/* Applies the event: `ids` is its last row. */
static void visit_ids(void *ctx, const struct pd_field *f, const struct pd_numbers *ids)
{
	struct event_desc *d = ctx;
	struct pd_session *s = d->s;
	struct pd_attr *same;

	if (!is_named(f, "ids"))
		return;
	same = check_attr(d);
	for (size_t i = 0; i < ids->count; i++) {
		struct pd_attr *a = pd_session_by_id(s, pd_number_at(ids, i));

		if (a) {
			pd_session_rename(s, a, d->name, PD_NAME_FROM_FILE);
			return;
		}
	}
	if (!same || same->type != d->type || same->config != d->config)
		return;
	pd_session_rename(s, same, d->name, PD_NAME_FROM_FILE);
	if (same->nr_ids)
		return;
	for (size_t i = 0; i < ids->count; i++)
		pd_session_add_id(s, same, pd_number_at(ids, i));
}

void pd_event_desc_update(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes section,
			  uint64_t offset)
{
	static const struct pd_visitor v = {
		.size = sizeof(v), .number = visit_number, .text = visit_text, .numbers = visit_ids,
		.enter = visit_enter,
	};
	struct event_desc d = { .s = s, .offset = offset };
	struct pd_extent_of extent;

	pd_measure(plan, section, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit_batches(plan, section, 0, s->swap, &extent, &v, visit_batch, &d);
}
