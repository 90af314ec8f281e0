/* encode_ids.c - read the ids of events. A file has them in a section for each event; ids that are
 * only in EVENT_DESC belong to the events as well.
 */
#include "output/encode.h"

#include <string.h>

#include "layout/container.h"

/* Returns how many of the event's ids are in its section. */
static uint64_t nr_ids_in_section(const struct pd_encoder *enc, const struct pd_attr *a)
{
	const struct pd_section *section = pd_map_find(&enc->stated.ids, a->index);
	uint64_t size = !section || section->unread ? 0 : section->size;

	if (size && enc->stated.has_size && section->offset >= enc->stated.size)
		size = 0;
	else if (size && enc->stated.has_size && size > enc->stated.size - section->offset)
		size = enc->stated.size - section->offset;
	return size / sizeof(uint64_t);
}

int pd_encode_ids(struct pd_encoder *enc, pd_node ids, struct pd_attr *a,
		  struct pd_encode_error *e)
{
	const uint64_t nr_in_section = nr_ids_in_section(enc, a);
	size_t n;

	if (ids && enc->v->type(ids) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "ids", "expected an array");
	n = ids ? enc->v->length(ids) : 0;
	enc->lacks_ids |= n < nr_in_section;
	for (size_t i = 0; i < n; i++) {
		uint64_t id = 0;
		pd_node item = enc->v->item(ids, i, &id);

		if ((item && pd_node_number(enc->v, item, NULL, &id)) ||
		    pd_session_add_id(&enc->session, a, id) < 0)
			return pd_encode_fail(e, PD_E_ARGUMENT, "ids", "expected an integer");
		if (i >= nr_in_section)
			pd_buf_append(&enc->outside_ids, &id, sizeof(id));
	}
	return enc->outside_ids.failed ? pd_encode_no_memory(e) : 0;
}

static void visit_ids(void *ctx, const struct pd_field *f, const struct pd_numbers *ids)
{
	struct pd_map *known = ctx;

	if (strcmp(f->name, "ids") != 0)
		return;
	for (size_t i = 0; i < ids->count; i++)
		if (pd_map_add(known, pd_number_at(ids, i), known) < 0)
			return;		/* without memory an id is unknown: the layout is new */
}

/* Adds the ids in EVENT_DESC. */
static void find_described_ids(struct pd_encoder *enc, struct pd_map *known)
{
	static const struct pd_visitor v = { .size = sizeof(v), .numbers = visit_ids };
	const struct pd_bytes desc = pd_buf_bytes(&enc->features[PD_FEATURE_EVENT_DESC].bytes);
	const struct pd_plan *plan = pd_session_feature_plan(&enc->session,
						pd_feature_desc(PD_FEATURE_EVENT_DESC));
	struct pd_extent_of extent;

	if (!plan)
		return;
	pd_measure(plan, desc, 0, enc->session.swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, desc, 0, enc->session.swap, &extent, &v, known);
}

bool pd_encode_ids_fit(struct pd_encoder *enc)
{
	const struct pd_bytes outside = pd_buf_bytes(&enc->outside_ids);
	struct pd_map known = { .budget = &enc->budget };
	bool all_known = true;

	if (enc->lacks_ids || !outside.size)
		return !enc->lacks_ids;
	find_described_ids(enc, &known);
	for (size_t at = 0; at < outside.size && all_known; at += sizeof(uint64_t))
		all_known = pd_map_find(&known, pd_load64(outside.data + at, PD_SWAP_NO)) != NULL;
	pd_map_free(&known);
	return all_known;
}
