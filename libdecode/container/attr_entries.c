/* attr_entries.c - loads the events: entries with an attribute and the section of its ids. */
#include "container/attr_entries.h"

/* Adds the ids that were read of a section. */
static int add_ids(const struct pd_loader *l, struct pd_attr *a, const struct pd_section *ids,
		   struct pd_bytes bytes)
{
	struct pd_session *s = l->session;

	if (pd_note_range(l, "ids", ids->offset, bytes.size - bytes.size % sizeof(uint64_t)))
		return -1;
	if (bytes.size < ids->size || ids->size % 8)
		pd_report_short(l, "ids", ids->offset, ids->size, bytes.size);
	for (size_t i = 0; i + 8 <= bytes.size; i += 8)
		if (pd_session_add_id(s, a, pd_load64(bytes.data + i, s->swap)) < 0)
			return pd_load_no_memory(l);
	return 0;
}

static int load_ids(const struct pd_loader *l, struct pd_attr *a, struct pd_section ids)
{
	struct pd_buf bytes = { .budget = l->session->budget };
	struct pd_container *c = l->container;
	int err = 0;

	ids.name = "ids";
	ids.attr_index = a->index;
	if (!ids.size && !ids.offset)
		return 0;
	ids.offset += c->ids_moved;
	ids.unread = c->ids_doubtful || !pd_claim_section(c, &c->ids_size, &ids);
	if (pd_add_section(l, ids))
		return -1;
	if (c->ids_doubtful)
		return 0;
	if (ids.unread) {
		pd_report_damage(l, PD_E_SIZE, "ids", ids.offset, ids.size, 0);
		return 0;
	}
	if (pd_section_read(l->source, &ids, &bytes, l->e) == 0) {
		err = add_ids(l, a, &ids, pd_buf_bytes(&bytes));
	} else if (l->e->code == PD_E_LIMIT) {	/* the records do not need them */
		l->report->error(l->report->ctx, l->e);
		c->sections[c->info.nr_sections - 1].unread = true;
	} else {
		err = -1;
	}
	pd_buf_free(&bytes);
	return err;
}

/* Finds the section of an attribute's ids, which follows the attribute: at the end of the entry,
 * or, in files whose entries are larger than stated, at the attribute's own end. Returns false in
 * the latter case: the bytes at the end of the entry are then in no section. */
static bool find_ids(const struct pd_loader *l, struct pd_bytes entry, struct pd_section *ids)
{
	const uint64_t own = pd_attr_size_load(entry.data, l->session->swap);
	const uint64_t file_size = l->container->info.size;

	*ids = pd_section_load(entry.data + entry.size - PD_SECTION_SIZE, l->session->swap);
	if (ids->offset <= file_size && ids->size <= file_size - ids->offset)
		return true;
	if (own < PD_ATTR_SIZE_VER0 || own + PD_SECTION_SIZE >= entry.size)
		return true;
	*ids = pd_section_load(entry.data + own, l->session->swap);
	return false;
}

/* Checks the size that an attribute states. The first perfs wrote 0; no other recorder writes less
 * than the first kernels had, or more than there is room for. */
static void check_own_size(const struct pd_loader *l, const struct pd_section *entry,
			   struct pd_bytes bytes)
{
	const uint64_t own = pd_attr_size_load(bytes.data, l->session->swap);
	const uint64_t most = entry->size - PD_SECTION_SIZE;

	if (own && own < PD_ATTR_SIZE_VER0)
		pd_report_damage(l, PD_E_SIZE, "attrs", entry->offset, PD_ATTR_SIZE_VER0, own);
	else if (own > most)
		pd_report_damage(l, PD_E_TRUNCATED, "attrs", entry->offset, own, most);
}

/* Adds the event of an entry, an attribute and the section of its ids. */
static int load_attr(const struct pd_loader *l, const struct pd_section *entry,
		     struct pd_bytes bytes)
{
	const struct pd_bytes attribute = { bytes.data, bytes.size - PD_SECTION_SIZE };
	struct pd_section ids;
	struct pd_attr *a;
	bool at_end;

	check_own_size(l, entry, bytes);
	at_end = find_ids(l, bytes, &ids);
	a = pd_session_add_attr(l->session, attribute);
	if (!a)
		return pd_load_no_memory(l);
	if (pd_note_range(l, "attrs", entry->offset, entry->size) ||
	    (l->container->ids_moved &&
	     pd_note_range(l, "kept", entry->offset, entry->size)) ||
	    (!at_end && pd_note_range(l, "kept", entry->offset + attribute.size, PD_SECTION_SIZE)))
		return -1;
	return load_ids(l, a, ids);
}

int pd_attr_entries_load(const struct pd_loader *l, struct pd_section attrs)
{
	const uint64_t stride = l->container->info.attr_size;
	struct pd_buf bytes = { .budget = l->session->budget };
	int err = 0;

	attrs.name = "attrs";
	if (pd_add_section(l, attrs))
		return -1;
	if (stride < PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE || stride > UINT16_MAX) {
		pd_report_damage(l, PD_E_SIZE, "attrs", attrs.offset,
				 PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE, stride);
		return 0;
	}
	for (uint64_t at = 0; !err && at + stride <= attrs.size; at += stride) {
		const struct pd_section entry = { .name = "attrs", .offset = attrs.offset + at,
						  .size = stride };

		err = pd_section_read_needed(l, &entry, &bytes);
		if (!err && bytes.size < stride) {
			pd_report_short(l, "attrs", entry.offset, stride, bytes.size);
			break;
		}
		if (!err)
			err = load_attr(l, &entry, pd_buf_bytes(&bytes));
	}
	pd_buf_free(&bytes);
	return err;
}

int pd_attr_entries_keep_damaged(const struct pd_loader *l, uint64_t offset)
{
	const struct pd_session *s = l->session;
	const uint64_t stride = l->container->info.attr_size;

	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->is_restored &&
		    pd_note_range(l, "kept", offset + i * stride, stride))
			return -1;
	return 0;
}
