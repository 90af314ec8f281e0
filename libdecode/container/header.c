/* header.c - reads the file around the records. Sections may be in any order: offsets are followed,
 * never assumed. */
#include "container/header.h"

#include <stdlib.h>
#include <string.h>

#include "container/attr_copies.h"
#include "container/attr_entries.h"
#include "container/attr_flags.h"
#include "container/changed_header.h"
#include "container/feature_bits.h"
#include "container/feature_contents.h"
#include "container/feature_table.h"
#include "container/file_bytes.h"
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

/* Adds the section with names of event types: the whole entries that the file has. */
static int add_event_types(const struct pd_loader *l, const struct pd_header_numbers *h)
{
	const struct pd_section types = { .name = "event_types", .offset = h->event_types.offset,
					  .size = h->event_types.size };
	const uint64_t file_size = l->container->info.size;
	uint64_t size = file_size > types.offset ? file_size - types.offset : 0;

	if (!types.size && !types.offset)
		return 0;
	if (size > types.size)
		size = types.size;
	size -= size % PD_EVENT_TYPE_SIZE;
	if (pd_add_section(l, types))
		return -1;
	return pd_note_range(l, types.name, types.offset, size);
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
static size_t find_data_end(const struct pd_loader *l, struct pd_section *data, size_t nr_features,
			    const struct pd_header_numbers *h)
{
	struct pd_source *source = l->source;
	struct pd_session *s = l->session;
	struct pd_container *c = l->container;
	const uint64_t left = c->info.size > data->offset ? c->info.size - data->offset : 0;
	const bool no_size = data->size == 0 && was_killed(source, s, data->offset, nr_features);
	const bool is_marked = h->event_types.offset == PD_UNFINISHED_AT && !h->event_types.size;

	if (no_size || is_marked) {
		pd_report_damage(l, PD_E_UNFINISHED, "data", data->offset, 0, 0);
		c->info.complete = false;
	}
	if (!no_size && c->info.size_known && c->data_end > c->info.size) {
		pd_report_short(l, "data", data->offset, data->size, left);
		return 0;
	}
	if (!no_size && !is_marked) {
		if (data->size == left || c->features_moved ||
		    pd_recovery_is_table_at(source, s->swap, c->info.size, c->data_end,
					    nr_features) ||
		    pd_feature_own_table_at(source, c->data_end + nr_features * PD_SECTION_SIZE) ||
		    !records_follow(source, s, c, c->data_end))
			return nr_features;
		l->report->error(l->report->ctx, &(struct pd_error){
			.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "header",
			.field = "data.size",
			.offset = PD_HEADER_DATA_SIZE, .want = data->size, .have = left });
		c->info.complete = false;
	}
	c->data_end = UINT64_MAX;
	data->size = left;
	return 0;
}

/* The file header, as it is or was recovered. */
struct file_header {
	struct pd_header_numbers numbers;
	uint64_t bytes;			/* that the file has of it */
	bool bits[PD_FEATURE_BITS];
	size_t nr_features;		/* bits that are set */
};

/* Returns whether the attributes are where the header states them. */
static bool are_attrs_stated(const struct pd_loader *l, const struct pd_header_numbers *n)
{
	const struct pd_file_bytes file = { l->source, l->session->swap, l->container->info.size };

	return pd_file_bytes_attrs_fill(&file, n->attrs.offset, n->attrs.size, n->attr_size);
}

/* Restores a header into which bytes were inserted, or from which some were removed. Returns 0, or
 * -1 and *l->e. */
static int restore_header(const struct pd_loader *l, uint8_t bytes[PD_FILE_HEADER_SIZE],
			  struct file_header *h)
{
	struct pd_container *c = l->container;
	uint64_t moved;
	int found = 0;

	if (h->bytes == PD_FILE_HEADER_SIZE && c->info.size_known && !c->info.v1 &&
	    !are_attrs_stated(l, &h->numbers))
		found = pd_changed_header_restore(l, bytes, &moved);
	if (found <= 0)
		return found;
	if (extract_header(l->session, (struct pd_bytes){ bytes, PD_FILE_HEADER_SIZE },
			   &h->numbers))
		return pd_load_no_memory(l);
	h->numbers.attrs.offset += moved;
	h->numbers.data.offset += moved;
	h->numbers.moved = c->features_moved = c->ids_moved = moved;
	return pd_note_range(l, "kept", 0, h->bytes);
}

/* Replaces what is impossible in the header. Returns 0, or -1 and *l->e. */
static int recover_header(const struct pd_loader *l, struct file_header *h)
{
	struct pd_container *c = l->container;
	struct pd_header_numbers *numbers = &h->numbers;

	if (!c->info.size_known || !pd_recover_header(l->source, c->swap, c->info.size, numbers,
						      h->nr_features, l->report))
		return 0;
	c->info.attr_size = numbers->attr_size;
	c->features_moved = numbers->moved;
	c->ids_doubtful = numbers->ids_doubtful && h->bits[PD_FEATURE_EVENT_DESC];
	l->session->attrs_doubtful = numbers->attrs_doubtful;
	c->info.complete = false;
	return pd_note_range(l, "kept", 0, h->bytes);	/* keeps the bytes */
}

static void read_bits(const struct pd_loader *l, const uint8_t bytes[PD_FILE_HEADER_SIZE],
		      struct file_header *h)
{
	pd_feature_bits_read(l->container, (struct pd_bytes){ bytes + PD_FILE_HEADER_V1,
							      PD_FEATURE_BITS / 8 }, h->bits);
	h->nr_features = 0;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		h->nr_features += h->bits[i];
}

/* Reads the feature bits, also of a header that states too small a size for them, if the features
 * are where they should be. Returns 0, or -1 and *l->e. */
static int load_bits(const struct pd_loader *l, const uint8_t bytes[PD_FILE_HEADER_SIZE],
		     struct file_header *h)
{
	const struct pd_header_numbers *n = &h->numbers;
	struct pd_container *c = l->container;
	const bool is_short = n->size < PD_FILE_HEADER_SIZE;

	if (h->bytes < PD_FILE_HEADER_SIZE || (is_short && (c->info.v1 || !c->info.size_known)))
		return 0;
	read_bits(l, bytes, h);
	if (!is_short)
		return 0;
	if (!n->data.size || !pd_recovery_is_table_at(l->source, c->swap, c->info.size,
						      n->data.offset + n->data.size,
						      h->nr_features)) {
		memset(h->bits, 0, sizeof(h->bits));
		h->nr_features = 0;
		return 0;
	}
	pd_report_damage(l, PD_E_SIZE, "header", PD_HEADER_SIZE, PD_FILE_HEADER_SIZE, n->size);
	h->numbers.size = PD_FILE_HEADER_SIZE;
	c->info.complete = false;
	return pd_note_range(l, "kept", 0, h->bytes);
}

static int load_header(const struct pd_loader *l, struct file_header *h)
{
	struct pd_container *c = l->container;
	uint8_t bytes[PD_FILE_HEADER_SIZE] = { 0 };
	const int64_t got = pd_source_pread(l->source, 0, bytes, sizeof(bytes), l->e);

	*h = (struct file_header){ .bytes = (uint64_t)got };
	if (got < 0)
		return -1;
	if (got < PD_FILE_HEADER_V1) {
		*l->e = (struct pd_error){ .code = PD_E_TRUNCATED, .severity = PD_FATAL,
			.record = "header", .want = PD_FILE_HEADER_SIZE, .have = (uint64_t)got };
		return -1;
	}
	if (extract_header(l->session, (struct pd_bytes){ bytes, (size_t)got }, &h->numbers))
		return pd_load_no_memory(l);
	c->info.size_known = pd_source_size(l->source, &c->info.size);
	if (restore_header(l, bytes, h))
		return -1;
	c->info.attr_size = h->numbers.attr_size;
	if (load_bits(l, bytes, h))
		return -1;
	if (h->numbers.size < PD_FILE_HEADER_V1)
		pd_report_damage(l, PD_E_SIZE, "header", PD_HEADER_SIZE, PD_FILE_HEADER_V1,
				 h->numbers.size);
	memcpy(c->info.adds_features, h->bits, sizeof(h->bits));
	return recover_header(l, h);
}

/* Loads all sections but those of the features, and finds the end of the data. */
static int load_sections(const struct pd_loader *l, struct file_header *h, struct pd_section *data)
{
	const struct pd_header_numbers *n = &h->numbers;
	struct pd_container *c = l->container;
	const struct pd_section header = { .name = "header", .size = n->size < PD_FILE_HEADER_SIZE ?
		PD_FILE_HEADER_V1 : PD_FILE_HEADER_SIZE };

	c->info.data_offset = data->offset;
	c->info.data_size = data->size;
	c->data_end = data->offset + data->size < data->offset ? UINT64_MAX :
		data->offset + data->size;
	if (pd_add_section(l, header) ||
	    pd_attr_entries_load(l, (struct pd_section){ .offset = n->attrs.offset,
							 .size = n->attrs.size }) ||
	    add_event_types(l, n))
		return -1;
	h->nr_features = find_data_end(l, data, h->nr_features, n);
	if (pd_add_section(l, *data) ||
	    pd_note_range(l, data->name, data->offset, c->data_end - data->offset))
		return -1;
	return pd_note_range(l, header.name, 0, h->bytes == PD_FILE_HEADER_SIZE ? header.size :
			     PD_FILE_HEADER_V1);
}

int pd_header_read(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		   const struct pd_report *r, struct pd_error *e)
{
	const struct pd_loader l = { source, s, c, r, e };
	struct file_header h;
	struct pd_section data;

	if (load_header(&l, &h))
		return -1;
	data = (struct pd_section){ .name = "data", .offset = h.numbers.data.offset,
				    .size = h.numbers.data.size };
	if (load_sections(&l, &h, &data) ||
	    pd_feature_tables_load(&l, h.bits, h.nr_features) ||
	    pd_features_update(&l))
		return -1;
	if (pd_choose_attr_copies(source, s, &data, r) || pd_correct_attr_flags(&l, &data))
		return pd_load_no_memory(&l);
	if (pd_attr_entries_keep_damaged(&l, h.numbers.attrs.offset))
		return -1;
	return pd_features_check(&l);
}

void pd_header_free(struct pd_container *c, struct pd_session *s)
{
	pd_budget_free(s->budget, c->sections, c->sections_capacity * sizeof(*c->sections));
	pd_budget_free(s->budget, c->gaps, c->gaps_capacity * sizeof(*c->gaps));
	pd_budget_free(s->budget, c->ranges, c->ranges_capacity * sizeof(*c->ranges));
}
