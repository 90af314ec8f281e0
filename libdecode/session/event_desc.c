/* event_desc.c - updates the session from EVENT_DESC, whose events are those of the attrs section,
 * in its order.
 *
 * perf writes both from the same attributes. No valid file is known in which they differ, so a
 * difference is damage.
 */
#include "session/event_desc.h"

#include <string.h>

#include "session/sample_id_flag.h"

enum { SMALLEST_BLOCK = 64 };	/* bytes */

struct event_desc {
	struct pd_session *s;
	uint64_t offset;		/* of the section, for error reports */
	size_t index;			/* of the current event, from 1 */
	uint64_t nr, attr_size, type, config;
	const uint8_t *attr;		/* the event's copy of its attribute: attr_size bytes */
	struct pd_bytes name;
	bool restored;			/* an attribute */
	bool is_same;			/* the attribute of the current event, in both */
};

static bool is_named(const struct pd_field *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

static void visit_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct event_desc *d = ctx;

	if (is_named(f, "nr"))
		d->nr = value;
	else if (is_named(f, "attr_size"))
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

enum difference { SAME, LOST, DIFFERENT };

/* text: NULL for that of the code. */
static void report_difference(const struct event_desc *d, const char *field, enum difference what,
			      const char *text)
{
	if (d->s->report && what != SAME)
		d->s->report(d->s->report_ctx, &(struct pd_error){
			.code = what == LOST ? PD_E_RESTORED : PD_E_MISMATCH,
			.severity = what == LOST ? PD_DAMAGED : PD_NOTE,
			.record = "EVENT_DESC", .field = field, .offset = d->offset,
			.text = text });
}

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
	return is_in_zeroed_block(own, first, last) ? LOST : DIFFERENT;
}

/* Without memory there is no choice between the two. */
static void keep_copy(struct pd_session *s, struct pd_bytes copy, struct pd_bytes *kept)
{
	uint8_t *bytes = copy.size < PD_ATTR_SIZE_VER0 ? NULL :
		pd_arena_alloc(&s->arena, copy.size);

	if (!bytes)
		return;
	memcpy(bytes, copy.data, copy.size);
	*kept = (struct pd_bytes){ bytes, copy.size };
}

/* Returns whether the copy has sample_id_all as the other events have it, and the attribute has
 * not: all events of a recording have the same. */
static bool has_flag_of_others(const struct pd_session *s, const struct pd_attr *a,
			       struct pd_bytes copy)
{
	const enum pd_sample_id_seen flag = pd_session_sample_id_flag(s, copy);
	size_t others = 0;

	if (flag == pd_session_sample_id_flag(s, a->bytes))
		return false;
	for (size_t i = s->first_attr; i < s->nr_attrs; i++) {
		if (s->attrs[i] == a)
			continue;
		if (pd_session_sample_id_flag(s, s->attrs[i]->bytes) != flag)
			return false;
		others++;
	}
	return others;
}

/* Returns whether the copy is of the tracepoint that the event is named after, and the attribute of
 * something else. */
static bool is_tracepoint_of_copy(const struct event_desc *d, const struct pd_attr *a)
{
	return pd_session_is_tracepoint(d->s, d->type, d->config, d->name) &&
	       !pd_session_is_tracepoint(d->s, a->type, a->config, d->name);
}

/* Returns the attribute with the same index, restored if it is the one that is damaged. */
static struct pd_attr *check_attr(struct event_desc *d)
{
	struct pd_attr *a = d->index <= d->s->nr_attrs - d->s->first_attr ?
		d->s->attrs[d->s->first_attr + d->index - 1] : NULL;
	const struct pd_bytes copy = { d->attr, (size_t)d->attr_size };
	enum difference found;

	d->is_same = false;
	if (!a || !d->attr)
		return a;
	found = compare_attrs(a->bytes, copy);
	d->is_same = found == SAME && d->nr == d->s->nr_attrs - d->s->first_attr;
	if (found == DIFFERENT && (d->s->attrs_doubtful || has_flag_of_others(d->s, a, copy) ||
				   is_tracepoint_of_copy(d, a)))
		found = LOST;
	if (found == DIFFERENT && !a->copy.size && !a->is_restored)
		keep_copy(d->s, copy, &a->copy);
	if (found == LOST && d->s->is_pipe && !a->whole_copy.size)
		keep_copy(d->s, copy, &a->whole_copy);
	d->restored |= found == LOST;
	if (found != LOST || pd_session_restore_attr(d->s, a, copy) == 0)
		report_difference(d, "attr", found, NULL);
	return a;
}

/* Returns the event that the ids are of: `same` if its attribute is the same, that of any known id,
 * or `same` if it is the same event. */
static struct pd_attr *find_owner(const struct event_desc *d, const struct pd_numbers *ids,
				  struct pd_attr *same)
{
	if (same && d->is_same)
		return same;
	for (size_t i = 0; i < ids->count; i++) {
		struct pd_attr *a = pd_session_by_id(d->s, pd_number_at(ids, i));

		if (a)
			return a;
	}
	return same && same->type == d->type && same->config == d->config ? same : NULL;
}

/* Compares the ids in the header, if it has any, with the copy, of which `added` were new. Looks at
 * no more than the copy has: a stream may have many copies. */
static enum difference compare_ids(const struct pd_attr *a, size_t from_header, size_t added,
				   size_t copied)
{
	if (!from_header || !added)
		return SAME;
	for (size_t i = 0; i < from_header && i < copied; i++)
		if (!a->ids[i])
			return LOST;
	return DIFFERENT;
}

/* Moves an id to the event, which has it in the header as well. The other one has it there by
 * damage, if its ids differ from their copy. Returns whether it was moved. */
static bool take_id(struct event_desc *d, struct pd_attr *a, uint64_t id)
{
	const struct pd_attr *other = pd_session_by_id(d->s, id);

	if (other == a || !other->ids_differ)
		return false;
	pd_session_move_id(d->s, id, a);
	return true;
}

/* Adds the ids that belong to no event, or by damage to another one: the header has none, or
 * damaged ones. */
static void add_ids(struct event_desc *d, struct pd_attr *a, const struct pd_numbers *ids)
{
	const size_t from_header = a->nr_ids;
	bool taken = false;

	a->ids_differ |= from_header && from_header != ids->count;
	for (size_t i = 0; i < ids->count; i++) {
		const uint64_t id = pd_number_at(ids, i);
		const bool is_same = i < from_header && a->ids[i] == id;

		a->ids_differ |= i < from_header && !is_same;
		if (!id)
			continue;
		if (!pd_session_by_id(d->s, id)) {
			if (pd_session_add_id(d->s, a, id) < 0)
				return;
		} else if (is_same) {
			taken |= take_id(d, a, id);
		}
	}
	if (taken)
		report_difference(d, "ids", LOST,
				  "another event has them in the header: this copy is used");
	else
		report_difference(d, "ids", compare_ids(a, from_header, a->nr_ids - from_header,
							ids->count), NULL);
}

/* Returns whether events are missing: records of a pipe that have attributes were damaged. */
static bool lacks_events(const struct event_desc *d)
{
	return d->s->is_pipe && d->s->nr_attrs - d->s->first_attr < d->nr;
}

/* Adds the event, of which no record so far has the attribute: perf 4.16 writes them after the
 * features. */
static struct pd_attr *add_event(struct event_desc *d)
{
	struct pd_attr *a = d->attr && d->attr_size >= PD_ATTR_SIZE_VER0 ?
		pd_session_add_attr(d->s, (struct pd_bytes){ d->attr, (size_t)d->attr_size }) :
		NULL;

	if (!a)
		return NULL;
	a->has_no_record = true;
	a->described_at = d->offset;
	return a;
}

void pd_session_report_missing(struct pd_session *s)
{
	for (size_t i = 0; i < s->nr_attrs; i++) {
		struct pd_attr *a = s->attrs[i];

		if (!a->has_no_record || a->is_restored)
			continue;
		a->is_restored = true;
		if (s->report)
			s->report(s->report_ctx, &(struct pd_error){
				.code = PD_E_RESTORED, .severity = PD_DAMAGED,
				.record = "EVENT_DESC", .field = "attr", .offset = a->described_at,
				.text = "no record has it: this copy is used" });
	}
}

/* Returns the event that has the ids. Where events are missing, the others have other indexes, so
 * only ids tell which. */
static struct pd_attr *find_event(struct event_desc *d, const struct pd_numbers *ids)
{
	struct pd_attr *a;

	if (!lacks_events(d))
		return find_owner(d, ids, check_attr(d));
	a = find_owner(d, ids, NULL);
	return a || !ids->count ? a : add_event(d);
}

/* Applies the event: `ids` is its last row. */
static void visit_ids(void *ctx, const struct pd_field *f, const struct pd_numbers *ids)
{
	struct event_desc *d = ctx;
	struct pd_attr *a;

	if (!is_named(f, "ids"))
		return;
	a = find_event(d, ids);
	if (!a)
		return;
	pd_session_compare_name(d->s, a, d->name, &(struct pd_error){ .record = "EVENT_DESC",
								      .offset = d->offset });
	pd_session_rename(d->s, a, d->name, PD_NAME_FROM_FILE);
	add_ids(d, a, ids);
}

/* Reports another number of events than the recording has. A pipe may have fewer: EVENT_DESC then
 * defines the others. */
static void check_count(const struct event_desc *d, size_t nr_events)
{
	if (d->nr == nr_events || (d->s->is_pipe && d->nr > nr_events) || !d->s->report)
		return;
	d->s->report(d->s->report_ctx, &(struct pd_error){
		.code = PD_E_MISMATCH, .severity = PD_DAMAGED, .record = "EVENT_DESC",
		.field = "nr", .offset = d->offset,
		.text = d->nr < nr_events ? "it lists fewer events than the recording has" :
					    "it lists more events than the recording has" });
}

void pd_event_desc_update(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes section,
			  uint64_t offset)
{
	static const struct pd_visitor v = {
		.size = sizeof(v), .number = visit_number, .text = visit_text, .numbers = visit_ids,
		.enter = visit_enter,
	};
	struct event_desc d = { .s = s, .offset = offset };
	const size_t nr_events = s->nr_attrs - s->first_attr;
	struct pd_extent_of extent;

	pd_measure(plan, section, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit_batches(plan, section, 0, s->swap, &extent, &v, visit_batch, &d);
	check_count(&d, nr_events);
	if (d.restored)
		pd_session_compare_events(s);
}
