/* tree_read.c - what a tree is made of: a record, an event, a feature, the file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "layout/container.h"
#include "layout/names_tables.h"
#include "tree/tree.h"

/* --- records --- */

static void add_misc(struct pd_tree *t, const struct pd_frame *f)
{
	const unsigned int mode = f->misc & PD_MISC_CPUMODE;

	pd_tree_add_number(t, "misc", f->misc, NULL);
	if (f->desc && f->desc->cpumode)
		pd_tree_add_number(t, "cpumode", mode, pd_name_of(pd_names_cpumode, mode));
	if (f->desc && f->desc->misc && (f->misc & ~PD_MISC_CPUMODE))
		pd_tree_add_flags(t, "misc_flags", f->desc->misc, f->misc);
}

static void add_head(struct pd_tree *t, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	pd_tree_add_number(t, "offset", f->offset, NULL);
	if (f->inner_offset != PD_OUTER)
		pd_tree_add_number(t, "inner_offset", f->inner_offset, NULL);
	if (r->file)
		pd_tree_add_text(t, "file", r->file);
	pd_tree_add_number(t, "type", f->type, pd_record_name(r));
	if (f->state == PD_FRAME_SKIPPED)
		return;
	if (!f->desc || f->wrong_type)
		pd_tree_add_number(t, "type_id", f->type ^ f->wrong_type, NULL);
	pd_tree_add_number(t, "size", f->size, NULL);
	if (f->bytes.size != f->size)
		pd_tree_add_number(t, "cut", f->bytes.size, NULL);
	add_misc(t, f);
	if (r->attr) {
		pd_tree_add_number(t, "attr_index", r->attr->index, NULL);
		pd_tree_add_text(t, "event", pd_attr_name(r->attr));
	}
}

const struct pd_item *pd_tree_read_record(struct pd_tree *t, const struct pd_record *r,
					  struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!t || !r) {
		pd_refuse(e, "no tree or no record");
		return NULL;
	}
	pd_tree_begin(t, r->session);
	t->record = r;
	add_head(t, r);
	if (r->plan) {
		const struct pd_bytes trailing = pd_record_trailing(r);

		pd_record_visit(r, &pd_tree_visitor, t);
		if (trailing.size || r->extent.code != PD_OK)
			pd_tree_add_bytes(t, PD_ITEM_BYTES, "trailing", trailing);
	} else {
		pd_tree_add_bytes(t, PD_ITEM_BYTES, "body", r->body);
	}
	if (r->frame.zeros)
		pd_tree_add_number(t, "zeros", r->frame.zeros, NULL);
	return pd_tree_end(t, e);
}

/* --- events --- */

const struct pd_item *pd_tree_read_attr(struct pd_tree *t, struct pd_reader *r,
					const struct pd_attr *a, struct pd_error *e)
{
	struct pd_error unused;
	struct pd_bytes rest;

	e = pd_error_or(e, &unused);
	if (!t || !r || !a) {
		pd_refuse(e, "no tree, no reader or no event");
		return NULL;
	}
	pd_tree_begin(t, pd_reader_session(r));
	pd_tree_add_number(t, "index", a->index, NULL);
	pd_tree_add_text(t, "name", pd_attr_name(a));
	pd_tree_open(t, PD_ITEM_ARRAY, "ids");
	for (size_t i = 0; i < a->nr_ids && t->code == PD_OK; i++)
		pd_tree_add_number(t, "", a->ids[i], NULL);
	pd_tree_close(t);
	if (a->is_restored)
		pd_tree_add_number(t, "restored", 1, "true");
	rest = pd_reader_visit_attr(r, a, &pd_tree_visitor, t);
	if (rest.size)
		pd_tree_add_bytes(t, PD_ITEM_BYTES, "trailing", rest);
	return pd_tree_end(t, e);
}

/* --- features --- */

const struct pd_item *pd_tree_read_feature(struct pd_tree *t, struct pd_reader *r, uint32_t id,
					   struct pd_error *e)
{
	struct pd_error unused;
	struct pd_feature f;

	e = pd_error_or(e, &unused);
	if (!t || !r) {
		pd_refuse(e, "no tree or no reader");
		return NULL;
	}
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		if (pd_reader_feature_id(r, i) != id)
			continue;
		if (pd_reader_feature(r, i, &f, e))
			return NULL;
		pd_tree_begin(t, pd_reader_session(r));
		pd_tree_add_feature(t, id, f.bytes, pd_reader_file(r)->mode);
		return pd_tree_end(t, e);
	}
	pd_refuse(e, "the recording has no such feature");
	return NULL;
}

/* --- the file --- */

static void add_sections(struct pd_tree *t, const struct pd_file_info *f)
{
	pd_tree_open(t, PD_ITEM_ARRAY, "sections");
	for (size_t i = 0; i < f->nr_sections; i++) {
		const struct pd_section *s = &f->sections[i];

		pd_tree_open(t, PD_ITEM_OBJECT, "");
		pd_tree_add_text(t, "name", s->name);
		if (strcmp(s->name, "ids") == 0)
			pd_tree_add_number(t, "attr_index", s->attr_index, NULL);
		pd_tree_add_number(t, "offset", s->offset, NULL);
		pd_tree_add_number(t, "size", s->size, NULL);
		if (s->unread)
			pd_tree_add_number(t, "unread", 1, NULL);
		pd_tree_close(t);
	}
	pd_tree_close(t);
}

/* Returns the tree's own copy of a range of the file, as far as it can be read. */
static struct pd_bytes load_range(struct pd_tree *t, struct pd_reader *r, uint64_t offset,
				  uint64_t size)
{
	char *room = size <= t->budget.limit ? pd_tree_room(t, (size_t)size) : NULL;
	int64_t n = 0;

	if (room)
		n = pd_reader_read_at(r, offset, room, (size_t)size);
	else
		t->code = t->code ? t->code : PD_E_LIMIT;
	return (struct pd_bytes){ (const uint8_t *)room, n > 0 ? (size_t)n : 0 };
}

static void add_gaps(struct pd_tree *t, struct pd_reader *r, const struct pd_file_info *f)
{
	pd_tree_open(t, PD_ITEM_ARRAY, "gaps");
	for (size_t i = 0; i < f->nr_gaps; i++) {
		pd_tree_open(t, PD_ITEM_OBJECT, "");
		pd_tree_add_number(t, "offset", f->gaps[i].offset, NULL);
		pd_tree_add_bytes(t, PD_ITEM_BYTES, "data",
				  load_range(t, r, f->gaps[i].offset, f->gaps[i].size));
		pd_tree_close(t);
	}
	pd_tree_close(t);
}

/* Names of events, which perf wrote before 3.12. */
static void add_event_types(struct pd_tree *t, struct pd_reader *r, const struct pd_section *s)
{
	const struct pd_facts none = { .cpus_available = 0 };
	struct pd_plan *plan = pd_plan_compile(pd_event_type_fields, &none, &t->budget);
	struct pd_bytes all = load_range(t, r, s->offset, s->size);

	pd_tree_open(t, PD_ITEM_ARRAY, "event_types");
	for (; plan && all.size >= PD_EVENT_TYPE_SIZE; all.data += PD_EVENT_TYPE_SIZE) {
		const struct pd_bytes entry = { all.data, PD_EVENT_TYPE_SIZE };
		struct pd_extent_of extent;

		pd_tree_open(t, PD_ITEM_OBJECT, "");
		pd_measure(plan, entry, 0, t->session->swap, PD_TEXT_TO_END, &extent);
		pd_visit(plan, entry, 0, t->session->swap, &extent, &pd_tree_visitor, t);
		pd_tree_close(t);
		all.size -= PD_EVENT_TYPE_SIZE;
	}
	pd_tree_close(t);
	pd_plan_free(plan);
}

static void add_adds_features(struct pd_tree *t, const struct pd_file_info *f)
{
	pd_tree_open(t, PD_ITEM_ARRAY, "adds_features");
	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++) {
		const struct pd_feature_desc *d = pd_feature_desc(bit);
		char number[24];

		if (!f->adds_features[bit])
			continue;
		snprintf(number, sizeof(number), "%" PRIu32, bit);
		pd_tree_add_text(t, "", d ? d->field->name : pd_tree_join(t, "FEATURE_", number));
		if (t->code == PD_OK)
			t->items[t->nr - 1].number = bit;
	}
	pd_tree_close(t);
}

static void add_file_names(struct pd_tree *t, struct pd_reader *r)
{
	const char *const *names;
	const size_t n = pd_reader_files(r, &names);

	pd_tree_open(t, PD_ITEM_ARRAY, "files");
	for (size_t i = 0; i < n; i++)
		pd_tree_add_text(t, "", names[i]);
	pd_tree_close(t);
}

/* Keys that only a header with sections has. */
static void add_layout(struct pd_tree *t, struct pd_reader *r, const struct pd_file_info *f)
{
	if (f->mode == PD_MODE_DIRECTORY)
		add_file_names(t, r);
	pd_tree_add_number(t, "attr_size", f->attr_size, NULL);
	pd_tree_add_number(t, "data_offset", f->data_offset, NULL);
	pd_tree_add_number(t, "data_size", f->data_size, NULL);
	pd_tree_add_number(t, "long_size", f->long_size, NULL);
	add_adds_features(t, f);
	add_sections(t, f);
	for (size_t i = 0; i < f->nr_sections; i++)
		if (strcmp(f->sections[i].name, "event_types") == 0 && f->sections[i].size)
			add_event_types(t, r, &f->sections[i]);
	add_gaps(t, r, f);
}

const struct pd_item *pd_tree_read_file(struct pd_tree *t, struct pd_reader *r, struct pd_error *e)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = r ? pd_reader_file(r) : NULL;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!t || !f) {
		pd_refuse(e, "no tree or no reader");
		return NULL;
	}
	pd_tree_begin(t, pd_reader_session(r));
	pd_tree_add_number(t, "mode", f->mode, modes[f->mode]);
	pd_tree_add_number(t, "byte_order", f->byte_order,
			   f->byte_order == PD_BIG_ENDIAN ? "big" : "little");
	if (f->v1)
		pd_tree_add_text(t, "magic", "PERFFILE");
	if (f->magic_is_damaged)
		pd_tree_add_bytes(t, PD_ITEM_BYTES, "magic_hex",
				  (struct pd_bytes){ f->magic, sizeof(f->magic) });
	if (f->size_known)
		pd_tree_add_number(t, "size", f->size, NULL);
	pd_tree_add_number(t, "header_size", f->header_size, NULL);
	pd_tree_add_number(t, "complete", f->complete, f->complete ? "true" : "false");
	if (f->mode != PD_MODE_PIPE)
		add_layout(t, r, f);
	return pd_tree_end(t, e);
}
