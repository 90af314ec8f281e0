/* header.c - reads the file around the records. Sections may be in any order: offsets are followed,
 * never assumed. */
#include "container/header.h"

#include <stdlib.h>
#include <string.h>

#include "container/feature_table.h"
#include "container/attr_copies.h"
#include "container/header_recovery.h"
#include "container/sections.h"
#include "plan/extract.h"
#include "stream/resync.h"

#define V1_MAX_ATTR_SIZE 4096
#define RECORDS_FOLLOW_IN (128u << 10)	/* fits a record of maximum size and some records after
					 * it */

static enum pd_swap swap_for(enum pd_byte_order order)
{
	return (order == PD_BIG_ENDIAN) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
		       PD_SWAP_YES :
		       PD_SWAP_NO;
}

int pd_header_probe(struct pd_bytes first, struct pd_container *c)
{
	*c = (struct pd_container){ .info.complete = true, .info.long_size = 8,
		.data_end = UINT64_MAX };
	switch (pd_magic_of(first, &c->info.magic_is_damaged)) {
	case PD_MAGIC_LITTLE:
		c->info.byte_order = PD_LITTLE_ENDIAN;
		break;
	case PD_MAGIC_BIG:
		c->info.byte_order = PD_BIG_ENDIAN;
		break;
	case PD_MAGIC_V1:
		/* the header's size is plausible in one order only */
		c->info.v1 = true;
		c->info.byte_order =
			pd_load64(first.data + 8, swap_for(PD_LITTLE_ENDIAN)) <= V1_MAX_ATTR_SIZE ?
				PD_LITTLE_ENDIAN :
				PD_BIG_ENDIAN;
		break;
	default:
		return -1;
	}
	memcpy(c->info.magic, first.data, sizeof(c->info.magic));
	c->swap = swap_for(c->info.byte_order);
	c->info.header_size = pd_load64(first.data + 8, c->swap);
	c->info.mode = c->info.header_size == PD_MAGIC_SIZE ? PD_MODE_PIPE : PD_MODE_FILE;
	return 0;
}

static int no_memory(struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return -1;
}

/* Returns 0, or -1 without memory. */
static int extract_header(struct pd_session *s, struct pd_bytes bytes, struct pd_header_numbers *h)
{
	const struct pd_facts none = { .cpus_available = 0 };
	struct pd_plan *plan = pd_plan_compile(pd_file_header_fields, &none, s->budget);
	const struct pd_extract extracts[] = {
		{ "", "size", &h->size },
		{ "", "attr_size", &h->attr_size },
		{ "attrs", "offset", &h->attrs.offset },
		{ "attrs", "size", &h->attrs.size },
		{ "data", "offset", &h->data.offset },
		{ "data", "size", &h->data.size },
		{ "event_types", "offset", &h->event_types.offset },
		{ "event_types", "size", &h->event_types.size },
	};

	if (!plan)
		return -1;
	pd_extract(plan, bytes, s->swap, extracts, sizeof(extracts) / sizeof(*extracts));
	pd_plan_free(plan);
	return 0;
}

/* The bitmap is an array of longs of the recording machine. If HOSTNAME is not set in 64-bit words
 * but is in 32-bit words, that machine had 32-bit longs. Its size is always 256 bits. */
static void read_bitmap(struct pd_container *c, struct pd_bytes map, bool bits[PD_FEATURE_BITS])
{
	for (uint32_t width = 8; width >= 4; width -= 4) {
		for (size_t i = 0; i < PD_FEATURE_BITS; i++) {
			size_t word = i / (8 * width);

			bits[i] = pd_load(map.data + word * width, width, c->swap) >>
					  (i % (8 * width)) &
				  1;
		}
		c->info.long_size = width;
		if (bits[PD_FEATURE_HOSTNAME] || c->info.byte_order == PD_LITTLE_ENDIAN)
			break;
	}
	if (!bits[PD_FEATURE_HOSTNAME] && c->info.long_size == 4) {
		c->info.long_size = 8;
		for (size_t i = 0; i < PD_FEATURE_BITS; i++)
			bits[i] = pd_load64(map.data + i / 64 * 8, c->swap) >> (i % 64) & 1;
	} else if (c->info.byte_order == PD_LITTLE_ENDIAN) {
		c->info.long_size = 8;
	}
}

static int load_ids(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		    struct pd_attr *a, struct pd_section ids, const struct pd_report *r,
		    struct pd_error *e)
{
	struct pd_buf bytes = { .budget = s->budget };

	ids.name = "ids";
	ids.attr_index = a->index;
	if (!ids.size && !ids.offset)
		return 0;
	ids.unread = c->ids_doubtful || !pd_claim_section(c, &c->ids_size, &ids);
	if (pd_add_section(s, c, ids))
		return no_memory(e);
	if (c->ids_doubtful)
		return 0;
	if (ids.unread) {
		pd_report_damage(r, PD_E_SIZE, "ids", ids.offset, ids.size, 0);
		return 0;
	}
	if (pd_section_read(source, &ids, &bytes, e)) {
		pd_buf_free(&bytes);
		if (e->code != PD_E_LIMIT)
			return -1;
		r->error(r->ctx, e);	/* its size exceeds the memory limit; the records do not
					 * need it */
		c->sections[c->info.nr_sections - 1].unread = true;
		return 0;
	}
	if (pd_note_range(s, c, "ids", ids.offset, bytes.size - bytes.size % sizeof(uint64_t))) {
		pd_buf_free(&bytes);
		return no_memory(e);
	}
	if (bytes.size < ids.size || ids.size % 8)
		pd_report_short(c, r, "ids", ids.offset, ids.size, bytes.size);
	for (size_t i = 0; i + 8 <= bytes.size; i += 8) {
		int known = pd_session_add_id(s, a, pd_load64(bytes.data + i, s->swap));

		if (known < 0) {
			pd_buf_free(&bytes);
			return no_memory(e);
		}
	}
	pd_buf_free(&bytes);
	return 0;
}

/* Finds the section of an attribute's ids, which follows the attribute: at the end of the entry,
 * or, in files whose entries are larger than stated, at the attribute's own end. Returns false in
 * the latter case: the bytes at the end of the entry are then in no section. */
static bool find_ids(const struct pd_session *s, struct pd_bytes entry, uint64_t file_size,
		     struct pd_section *ids)
{
	uint64_t own = pd_attr_size_load(entry.data, s->swap);

	*ids = pd_section_load(entry.data + entry.size - PD_SECTION_SIZE, s->swap);
	if (ids->offset <= file_size && ids->size <= file_size - ids->offset)
		return true;
	if (own < PD_ATTR_SIZE_VER0 || own + PD_SECTION_SIZE >= entry.size)
		return true;
	*ids = pd_section_load(entry.data + own, s->swap);
	return false;
}

/* Checks the size that an attribute states. The first perfs wrote 0; no other recorder writes less
 * than the first kernels had, or more than there is room for. */
static void check_own_size(const struct pd_session *s, const struct pd_section *entry,
			   struct pd_bytes bytes, const struct pd_report *r)
{
	const uint64_t own = pd_attr_size_load(bytes.data, s->swap);
	const uint64_t most = entry->size - PD_SECTION_SIZE;

	if (own && own < PD_ATTR_SIZE_VER0)
		pd_report_damage(r, PD_E_SIZE, "attrs", entry->offset, PD_ATTR_SIZE_VER0, own);
	else if (own > most)
		pd_report_damage(r, PD_E_TRUNCATED, "attrs", entry->offset, own, most);
}

static int load_attrs(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		      struct pd_section attrs, const struct pd_report *r, struct pd_error *e)
{
	const uint64_t stride = c->info.attr_size;
	struct pd_buf bytes = { .budget = s->budget };
	uint64_t file_size = UINT64_MAX;

	attrs.name = "attrs";
	pd_source_size(source, &file_size);
	if (pd_add_section(s, c, attrs))
		return no_memory(e);
	if (stride < PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE || stride > UINT16_MAX) {
		pd_report_damage(r, PD_E_SIZE, "attrs", attrs.offset,
			      PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE, stride);
		return 0;
	}
	for (uint64_t at = 0; at + stride <= attrs.size; at += stride) {
		struct pd_section entry = { .name = "attrs", .offset = attrs.offset + at,
			.size = stride }, ids = { 0 };
		struct pd_attr *a;
		bool at_end;

		if (pd_section_read(source, &entry, &bytes, e)) {
			pd_buf_free(&bytes);
			return -1;
		}
		if (bytes.size < stride) {
			pd_report_short(c, r, "attrs", entry.offset, stride, bytes.size);
			break;
		}
		check_own_size(s, &entry, pd_buf_bytes(&bytes), r);
		at_end = find_ids(s, pd_buf_bytes(&bytes), file_size, &ids);
		a = pd_session_add_attr(
			s, (struct pd_bytes){ bytes.data, (size_t)stride - PD_SECTION_SIZE });
		if (!a || pd_note_range(s, c, "attrs", entry.offset, stride) ||
		    (!at_end && pd_note_range(s, c, "kept",
					      entry.offset + stride - PD_SECTION_SIZE,
					      PD_SECTION_SIZE)) ||
		    load_ids(source, s, c, a, ids, r, e)) {
			pd_buf_free(&bytes);
			return no_memory(e);
		}
	}
	pd_buf_free(&bytes);
	return 0;
}

/* Returns whether the file is unfinished: a killed recorder leaves a data size of 0 and features
 * that it never wrote. A finished file without records has the same size, but also feature tables:
 * the first feature follows directly after them. */
static bool was_killed(struct pd_source *source, struct pd_session *s, uint64_t data_offset,
		       size_t nr_features)
{
	struct pd_error ignored;
	struct pd_section first;
	uint8_t entry[PD_SECTION_SIZE];

	if (!nr_features)
		return !pd_feature_own_table_at(source, data_offset);
	if (pd_source_pread(source, data_offset, entry, sizeof(entry), &ignored) != sizeof(entry))
		return true;
	first = pd_section_load(entry, s->swap);
	return first.offset < data_offset + nr_features * PD_SECTION_SIZE ||
	       first.offset > data_offset + PD_FEATURE_TABLES_MAX;
}

/* Some features depend on others: reads those first. */
static int update_features(struct pd_source *source, struct pd_session *s, struct pd_container *c,
			   struct pd_error *e)
{
	static const uint32_t first[] = {
		PD_FEATURE_NRCPUS, PD_FEATURE_ARCH, PD_FEATURE_E_MACHINE, PD_FEATURE_TRACING_DATA,
		PD_FEATURE_PMU_MAPPINGS, PD_FEATURE_EVENT_DESC, PD_FEATURE_COMPRESSED,
		PD_FEATURE_CLOCK_DATA,
	};
	struct pd_buf bytes = { .budget = s->budget };

	for (size_t f = 0; f < sizeof(first) / sizeof(*first); f++)
		for (size_t i = 0; i < c->nr_features; i++) {
			if (c->features[i].feature != first[f] || c->left_out[first[f]])
				continue;
			if (pd_section_read(source, &c->features[i], &bytes, e) == 0)
				pd_session_update_feature(s, first[f], pd_buf_bytes(&bytes),
							  c->features[i].offset);
			else if (e->code == PD_E_IO) {
				pd_buf_free(&bytes);
				return -1;
			}
		}
	pd_buf_free(&bytes);
	return 0;
}

/* Adds the original bytes of restored attributes as gaps, so that the file can be rebuilt. */
static int keep_damaged_attrs(struct pd_session *s, struct pd_container *c, uint64_t attrs_offset)
{
	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->is_restored &&
		    pd_note_range(s, c, "kept", attrs_offset + i * c->info.attr_size,
			       c->info.attr_size))
			return -1;
	return 0;
}

/* Checks each feature on its own: damage of one does not affect the others. */
static int check_features(struct pd_source *source, struct pd_session *s, struct pd_container *c,
			  const struct pd_report *r, struct pd_error *e)
{
	struct pd_buf bytes = { .budget = s->budget };

	for (size_t i = 0; i < c->nr_features; i++) {
		const struct pd_section *f = &c->features[i];
		struct pd_extent_of extent;

		if (c->left_out[f->feature])
			continue;
		if (pd_section_read(source, f, &bytes, e)) {
			if (e->code == PD_E_IO) {
				pd_buf_free(&bytes);
				return -1;
			}
			r->error(r->ctx, e);
			continue;
		}
		if (pd_note_range(s, c, f->name, f->offset, bytes.size)) {
			pd_buf_free(&bytes);
			return no_memory(e);
		}
		if (bytes.size < f->size) {
			pd_report_short(c, r, f->name, f->offset, f->size, bytes.size);
		} else if (pd_session_check_feature(s, f->feature, pd_buf_bytes(&bytes), &extent) !=
			   PD_OK) {
			r->error(r->ctx, &(struct pd_error){ .code = extent.code,
				.severity = PD_DAMAGED,
				 .record = f->name, .field = extent.field->name,
				 .offset = f->offset,
				 .want = extent.want, .have = extent.have });
		}
	}
	pd_buf_free(&bytes);
	return 0;
}

/* Adds the section with names of event types: the whole entries that the file has. */
static int add_event_types(struct pd_session *s, struct pd_container *c,
			   const struct pd_header_numbers *h)
{
	const struct pd_section types = { .name = "event_types", .offset = h->event_types.offset,
					  .size = h->event_types.size };
	uint64_t size = c->info.size > types.offset ? c->info.size - types.offset : 0;

	if (size > types.size)
		size = types.size;
	size -= size % PD_EVENT_TYPE_SIZE;
	if (pd_add_section(s, c, types))
		return -1;
	return pd_note_range(s, c, types.name, types.offset, size) ? -1 : 0;
}

/* Returns whether records continue at `end`, where the header states their end. */
static bool records_follow(struct pd_source *source, struct pd_session *s,
			   const struct pd_container *c, uint64_t end)
{
	struct pd_section tail = { .offset = end, .size = RECORDS_FOLLOW_IN };
	struct pd_buf bytes = { .budget = s->budget };
	struct pd_resync resync;
	struct pd_error ignored;
	bool found = false;

	for (size_t i = 0; i < c->nr_ranges; i++)	/* attributes, ids or names of events */
		if (c->ranges[i].size && c->ranges[i].offset >= end)
			return false;
	pd_resync_init(&resync, s);
	if (pd_section_read(source, &tail, &bytes, &ignored) == 0)
		found = pd_resync_find(&resync, pd_buf_bytes(&bytes), 0,
				       bytes.size < tail.size ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN)
				.result == PD_RESYNC_FOUND;
	pd_buf_free(&bytes);
	return found;
}

/* Sets the end of the data in an unfinished or truncated file. Returns how many features are left
 * then. A killed perf leaves no size; precord leaves its mark, and the size of its last flush. */
static size_t find_data_end(struct pd_source *source, struct pd_session *s, struct pd_container *c,
			    struct pd_section *data, size_t nr_features,
			    const struct pd_header_numbers *h, const struct pd_report *r)
{
	const uint64_t left = c->info.size > data->offset ? c->info.size - data->offset : 0;
	const bool no_size = data->size == 0 && was_killed(source, s, data->offset, nr_features);
	const bool is_marked = h->event_types.offset == PD_UNFINISHED_AT && !h->event_types.size;

	if (no_size || is_marked) {
		pd_report_damage(r, PD_E_UNFINISHED, "data", data->offset, 0, 0);
		c->info.complete = false;
	}
	if (!no_size && c->info.size_known && c->data_end > c->info.size) {
		pd_report_short(c, r, "data", data->offset, data->size, left);
		return 0;
	}
	if (!no_size && !is_marked) {
		if (data->size == left || c->features_moved ||
		    pd_recovery_is_table_at(source, s->swap, c->info.size, c->data_end,
					    nr_features) ||
		    pd_feature_own_table_at(source, c->data_end + nr_features * PD_SECTION_SIZE) ||
		    !records_follow(source, s, c, c->data_end))
			return nr_features;
		r->error(r->ctx, &(struct pd_error){
			.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "header",
			.field = "data.size",
			.offset = PD_HEADER_DATA_SIZE, .want = data->size, .have = left });
		c->info.complete = false;
	}
	c->data_end = UINT64_MAX;
	data->size = left;
	return 0;
}

/* Notes what pd_recover_header() found. */
static void note_recovery(struct pd_session *s, struct pd_container *c,
			  const struct pd_header_numbers *h, const bool bits[PD_FEATURE_BITS])
{
	c->info.attr_size = h->attr_size;
	c->features_moved = h->moved;
	c->ids_doubtful = h->ids_doubtful && bits[PD_FEATURE_EVENT_DESC];
	s->attrs_doubtful = h->attrs_doubtful;
	c->info.complete = false;
}

int pd_header_read(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		   const struct pd_report *r, struct pd_error *e)
{
	uint8_t bytes[PD_FILE_HEADER_SIZE] = { 0 };
	bool bits[PD_FEATURE_BITS] = { false };
	int64_t got = pd_source_pread(source, 0, bytes, sizeof(bytes), e);
	struct pd_header_numbers h = { 0 };
	struct pd_section header = { .name = "header" }, attrs, data;
	size_t nr_features = 0;

	if (got < 0)
		return -1;
	if (got < PD_FILE_HEADER_V1) {
		*e = (struct pd_error){ .code = PD_E_TRUNCATED, .severity = PD_FATAL,
			.record = "header", .want = PD_FILE_HEADER_SIZE, .have = (uint64_t)got };
		return -1;
	}
	if (extract_header(s, (struct pd_bytes){ bytes, (size_t)got }, &h))
		return no_memory(e);
	c->info.attr_size = h.attr_size;
	c->info.size_known = pd_source_size(source, &c->info.size);
	if (h.size < PD_FILE_HEADER_V1)
		pd_report_damage(r, PD_E_SIZE, "header", 8, PD_FILE_HEADER_V1, h.size);
	if (h.size >= PD_FILE_HEADER_SIZE && got == PD_FILE_HEADER_SIZE)
		read_bitmap(c, (struct pd_bytes){ bytes + PD_FILE_HEADER_V1, PD_FEATURE_BITS / 8 },
			    bits);
	memcpy(c->info.adds_features, bits, sizeof(bits));
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		nr_features += bits[i];
	if (c->info.size_known &&
	    pd_recover_header(source, s->swap, c->info.size, &h, nr_features, r)) {
		note_recovery(s, c, &h, bits);
		if (pd_note_range(s, c, "kept", 0, (uint64_t)got))	/* keeps the bytes */
			return no_memory(e);
	}
	attrs = (struct pd_section){ .offset = h.attrs.offset, .size = h.attrs.size };
	data = (struct pd_section){ .name = "data", .offset = h.data.offset, .size = h.data.size };
	c->info.data_offset = data.offset;
	c->info.data_size = data.size;
	c->data_end = data.offset + data.size < data.offset ? UINT64_MAX : data.offset + data.size;
	header.size = h.size < PD_FILE_HEADER_SIZE ? PD_FILE_HEADER_V1 : PD_FILE_HEADER_SIZE;
	if (pd_add_section(s, c, header) || load_attrs(source, s, c, attrs, r, e))
		return e->code == PD_E_IO ? -1 : no_memory(e);
	if ((h.event_types.size || h.event_types.offset) && add_event_types(s, c, &h))
		return no_memory(e);
	nr_features = find_data_end(source, s, c, &data, nr_features, &h, r);
	if (pd_add_section(s, c, data) ||
	    pd_note_range(s, c, data.name, data.offset, c->data_end - data.offset) ||
	    pd_note_range(s, c, header.name, 0,
		       got == PD_FILE_HEADER_SIZE ? header.size : PD_FILE_HEADER_V1) ||
	    pd_feature_tables_load(source, s, c, bits, nr_features, r, e))
		return no_memory(e);
	if (update_features(source, s, c, e))
		return -1;
	if (pd_choose_attr_copies(source, s, &data, r) ||
	    keep_damaged_attrs(s, c, attrs.offset))
		return no_memory(e);
	return check_features(source, s, c, r, e);
}

void pd_header_free(struct pd_container *c, struct pd_session *s)
{
	pd_budget_free(s->budget, c->sections, c->sections_capacity * sizeof(*c->sections));
	pd_budget_free(s->budget, c->gaps, c->gaps_capacity * sizeof(*c->gaps));
	pd_budget_free(s->budget, c->ranges, c->ranges_capacity * sizeof(*c->ranges));
}
