/* header_recovery.c - corrects a damaged file header. */
#include "container/header_recovery.h"

#include "container/changed_tables.h"
#include "container/feature_table.h"
#include "container/file_bytes.h"
#include "container/moved_features.h"
#include "container/section_chain.h"
#include "container/sections.h"
#include "stream/resync.h"

#define CHUNK 65536
#define ATTRS_MOST 65536	/* looked at one by one: a file may have a hole of any size */

struct file {
	struct pd_file_bytes bytes;
	const struct pd_report *report;
	bool recovered;
};

static void replace_number(struct file *f, const char *field, uint64_t at, uint64_t *number,
			   uint64_t with)
{
	f->report->error(f->report->ctx, &(struct pd_error){
		.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "header", .field = field,
		.offset = at,
		.want = *number, .have = with });
	*number = with;
	f->recovered = true;
}

/* --- attrs --- */

static bool attrs_fill(const struct file *f, const struct pd_header_numbers *h, uint64_t offset)
{
	return pd_file_bytes_attrs_fill(&f->bytes, offset, h->attrs.size, h->attr_size);
}

static bool attrs_fit(const struct file *f, const struct pd_header_numbers *h, uint64_t offset)
{
	return pd_file_bytes_attrs_fit(&f->bytes, offset, h->attrs.size, h->attr_size);
}

/* Returns whether there is nothing but attributes from the first one to the records, which follow
 * directly, as perf writes them. */
static bool fill_up_to_records(const struct file *f, const struct pd_header_numbers *h)
{
	const uint64_t n = h->attr_size ? (h->data.offset - h->attrs.offset) / h->attr_size : 0;

	if (h->data.offset <= h->attrs.offset || n > ATTRS_MOST ||
	    !pd_file_bytes_records(&f->bytes, h->data.offset))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!pd_file_bytes_attrs_fill(&f->bytes, h->attrs.offset + i * h->attr_size,
					      h->attr_size, h->attr_size))
			return false;
	return n && h->attrs.offset + n * h->attr_size == h->data.offset;
}

static void recover_attrs(struct file *f, struct pd_header_numbers *h)
{
	const uint64_t stride = pd_file_bytes_attr(&f->bytes, h->attrs.offset) + PD_SECTION_SIZE;
	const uint64_t before = h->data.offset - h->attrs.size,
		       between = h->data.offset - h->attrs.offset;

	if (h->attrs.size != between && fill_up_to_records(f, h))
		replace_number(f, "attrs.size", PD_HEADER_ATTRS_SIZE, &h->attrs.size, between);
	if (!h->attrs.size || attrs_fill(f, h, h->attrs.offset))
		return;
	if (h->data.offset >= h->attrs.size &&
	    attrs_fill(f, h, before)) {
		replace_number(f, "attrs.offset", PD_HEADER_ATTRS_OFFSET, &h->attrs.offset, before);
		return;
	}
	if (attrs_fit(f, h, h->attrs.offset))
		return;
	if (pd_file_bytes_attrs_fit(&f->bytes, h->attrs.offset, h->attrs.size, stride))
		replace_number(f, "attr_size", PD_HEADER_ATTR_SIZE, &h->attr_size, stride);
	else if (h->data.offset >= h->attrs.size &&
		 attrs_fit(f, h, before))
		replace_number(f, "attrs.offset", PD_HEADER_ATTRS_OFFSET, &h->attrs.offset, before);
	else if (h->data.offset >= h->attrs.offset &&
		 pd_file_bytes_attrs_fit(&f->bytes, h->attrs.offset, between, h->attr_size))
		replace_number(f, "attrs.size", PD_HEADER_ATTRS_SIZE, &h->attrs.size, between);
}

/* --- data --- */

static void recover_data_offset(struct file *f, struct pd_header_numbers *h)
{
	const uint64_t attrs_end = h->attrs.offset + h->attrs.size;

	if (attrs_end == h->data.offset ||
	    !pd_file_bytes_has(&f->bytes, h->attrs.offset, h->attrs.size))
		return;
	/* a later record may be where the offset leads */
	if (pd_file_bytes_records(&f->bytes, h->data.offset) &&
	    (attrs_end > h->data.offset || !attrs_fill(f, h, h->attrs.offset)))
		return;
	if (pd_file_bytes_records(&f->bytes, attrs_end))
		replace_number(f, "data.offset", PD_HEADER_DATA_OFFSET, &h->data.offset, attrs_end);
}

/* Returns whether the feature table may be here: n sections of the file that follow it. */
static bool table_may_be_at(const struct file *f, uint64_t offset, size_t n)
{
	uint8_t bytes[PD_FEATURE_BITS * PD_SECTION_SIZE];

	if (!pd_file_bytes_load(&f->bytes, offset, bytes, n * PD_SECTION_SIZE))
		return false;
	for (size_t i = 0; i < n; i++) {
		const uint64_t at = pd_load64(bytes + i * PD_SECTION_SIZE, f->bytes.swap);
		const uint64_t size = pd_load64(bytes + i * PD_SECTION_SIZE + 8, f->bytes.swap);

		if (!pd_file_bytes_has(&f->bytes, at, size) ||
		    (size && at < offset + n * PD_SECTION_SIZE))
			return false;
	}
	return true;
}

/* Returns whether the feature table is here. perf writes the first feature directly after it, we
 * after the own table, and the next one after that. */
static bool table_at(const struct file *f, uint64_t offset, size_t n)
{
	uint8_t bytes[2 * PD_SECTION_SIZE];
	uint64_t first, size, second;

	if (!pd_file_bytes_load(&f->bytes, offset, bytes, n > 1 ? sizeof(bytes) : PD_SECTION_SIZE))
		return false;
	first = pd_load64(bytes, f->bytes.swap);
	size = pd_load64(bytes + 8, f->bytes.swap);
	if (first < offset + n * PD_SECTION_SIZE ||
	    first > offset + PD_FEATURE_TABLES_MAX || !pd_file_bytes_has(&f->bytes, first, size))
		return false;
	second = n > 1 ? pd_load64(bytes + PD_SECTION_SIZE, f->bytes.swap) : first + size;
	return second == first + size && table_may_be_at(f, offset, n);
}

/* Finds the first feature table after `offset`, stepping from record to record, and by 8 bytes
 * where there is none. */
static bool find_table(const struct file *f, uint64_t offset, size_t n, uint64_t *found)
{
	uint8_t chunk[CHUNK];
	uint64_t from = 0;
	int64_t filled = 0;

	while (pd_file_bytes_has(&f->bytes, offset, PD_SECTION_SIZE)) {
		struct pd_error ignored;
		const uint8_t *p;
		uint64_t first;
		struct pd_record_header h;

		if (offset < from || offset + PD_SECTION_SIZE > from + (uint64_t)filled) {
			const uint64_t data = pd_source_data_from(f->bytes.source, offset);

			if (data == UINT64_MAX)
				return false;
			if (data > offset)
				offset += (data - offset) & ~7ull;
			from = offset;
			filled = pd_source_pread(f->bytes.source, from, chunk, sizeof(chunk),
						 &ignored);
			if (filled < PD_SECTION_SIZE)
				return false;
		}
		p = chunk + (offset - from);
		h = pd_record_header_load(p, f->bytes.swap);
		first = pd_load64(p, f->bytes.swap);
		if (pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type))) {
			offset += h.size;
			if (h.type == PD_RECORD_AUXTRACE &&
			    pd_file_bytes_has(&f->bytes, offset, pd_load64(p + 8, f->bytes.swap)))
				offset += pd_load64(p + 8, f->bytes.swap);
			continue;
		}
		if (first >= offset + n * PD_SECTION_SIZE &&
		    first <= offset + PD_FEATURE_TABLES_MAX && table_at(f, offset, n)) {
			*found = offset;
			return true;
		}
		offset += 8;
	}
	return false;
}

/* Returns whether there is a feature table here of which at most one number is wrong. */
static bool nearly_table_at(const struct file *f, uint64_t offset, size_t n)
{
	uint8_t bytes[PD_FEATURE_BITS * PD_SECTION_SIZE];
	struct pd_section_chain chain = { .n = n, .begin = offset + n * PD_SECTION_SIZE,
					  .end = f->bytes.size };

	if (!pd_file_bytes_load(&f->bytes, offset, bytes, n * PD_SECTION_SIZE))
		return false;
	for (size_t i = 0; i < n; i++)
		chain.list[i] = pd_section_load(bytes + i * PD_SECTION_SIZE, f->bytes.swap);
	return pd_section_chain_is_there(&chain);
}

/* Returns whether the features are after the stated end of the records. */
static bool is_table_stated(const struct file *f, const struct pd_header_numbers *h,
			    size_t nr_features)
{
	const uint64_t end = h->data.offset + h->data.size;

	return pd_file_bytes_has(&f->bytes, h->data.offset, h->data.size) &&
	       (table_at(f, end, nr_features) ||
		pd_feature_own_table_at(f->bytes.source, end + nr_features * PD_SECTION_SIZE) ||
		nearly_table_at(f, end, nr_features));
}

static struct pd_moved_search search_in(const struct file *f, const struct pd_header_numbers *h,
					size_t nr_features)
{
	return (struct pd_moved_search){ .source = f->bytes.source, .swap = f->bytes.swap,
		.file_size = f->bytes.size, .data_offset = h->data.offset,
		.data_end = h->data.offset + h->data.size, .nr_features = nr_features };
}

/* Returns whether the features are after the stated end of the records, and their tables are
 * damaged. */
static bool is_table_changed(const struct file *f, const struct pd_header_numbers *h,
			     size_t nr_features)
{
	const struct pd_moved_search search = search_in(f, h, nr_features);

	return pd_file_bytes_has(&f->bytes, h->data.offset, h->data.size) &&
	       pd_changed_tables_are_at(&search);
}

/* Finds features that are all as far from their stated offsets. Bytes were then inserted before
 * them, or removed: before the attributes if these are as far from theirs, in them if the records
 * are, else in the records. */
static bool recover_moved(struct file *f, struct pd_header_numbers *h, size_t nr_features)
{
	const struct pd_moved_search search = search_in(f, h, nr_features);
	uint64_t table;

	if (!pd_moved_features_find(&search, &table))
		return false;
	h->moved = table - search.data_end;
	if (!attrs_fill(f, h, h->attrs.offset) && attrs_fill(f, h, h->attrs.offset + h->moved)) {
		h->ids_doubtful = true;
		replace_number(f, "attrs.offset", PD_HEADER_ATTRS_OFFSET, &h->attrs.offset,
			       h->attrs.offset + h->moved);
		replace_number(f, "data.offset", PD_HEADER_DATA_OFFSET, &h->data.offset,
			       h->data.offset + h->moved);
	} else if (!pd_file_bytes_records(&f->bytes, h->data.offset) &&
		   pd_file_bytes_records(&f->bytes, h->data.offset + h->moved)) {
		h->ids_doubtful = h->attrs_doubtful = true;
		replace_number(f, "data.offset", PD_HEADER_DATA_OFFSET, &h->data.offset,
			       h->data.offset + h->moved);
	} else {
		replace_number(f, "data.size", PD_HEADER_DATA_SIZE, &h->data.size,
			       table - h->data.offset);
	}
	return true;
}

static void recover_data_size(struct file *f, struct pd_header_numbers *h, size_t nr_features)
{
	const uint64_t end = h->data.offset + h->data.size;
	uint64_t table;

	if (recover_moved(f, h, nr_features) || is_table_changed(f, h, nr_features) ||
	    (pd_file_bytes_has(&f->bytes, h->data.offset, h->data.size) &&
	     table_may_be_at(f, end, nr_features)))	/* of another writer */
		return;
	if (find_table(f, h->data.offset, nr_features, &table) &&
	    table - h->data.offset != h->data.size)
		replace_number(f, "data.size", PD_HEADER_DATA_SIZE, &h->data.size,
			       table - h->data.offset);
}

bool pd_recover_header(struct pd_source *source, enum pd_swap swap, uint64_t file_size,
		       struct pd_header_numbers *h, size_t nr_features, const struct pd_report *r)
{
	struct file f = { .bytes = { source, swap, file_size }, .report = r };
	const bool has_table = nr_features && h->data.size;

	if (has_table && !attrs_fill(&f, h, h->attrs.offset) &&
	    !is_table_stated(&f, h, nr_features))
		recover_moved(&f, h, nr_features);
	recover_attrs(&f, h);
	recover_data_offset(&f, h);
	if (has_table && !h->moved && !is_table_stated(&f, h, nr_features))
		recover_data_size(&f, h, nr_features);
	return f.recovered;
}

bool pd_recovery_is_table_at(struct pd_source *source, enum pd_swap swap, uint64_t file_size,
			     uint64_t offset, size_t n)
{
	const struct file f = { .bytes = { source, swap, file_size } };

	return n && table_may_be_at(&f, offset, n);
}

bool pd_recovery_is_pipe(struct pd_source *source, enum pd_swap swap, uint64_t header_size)
{
	struct file f = { .bytes = { .source = source, .swap = swap } };

	return (header_size < PD_FILE_HEADER_V1 || header_size > PD_ATTR_SIZE_MAX ||
		header_size % 8) &&
	       pd_source_size(source, &f.bytes.size) &&
	       pd_file_bytes_records(&f.bytes, PD_MAGIC_SIZE);
}
