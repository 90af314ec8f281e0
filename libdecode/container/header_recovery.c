/* header_recovery.c - corrects a damaged file header. */
#include "container/header_recovery.h"

#include "container/feature_table.h"
#include "container/moved_features.h"
#include "stream/resync.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define ATTR_MAX 4096
#define CHAIN 3		/* records in a row that are enough to recognize the first */
#define CHUNK 65536

struct file {
	struct pd_source *source;
	enum pd_swap swap;
	uint64_t size;
	const struct pd_report *report;
	bool recovered;
};

static bool is_in_file(const struct file *f, uint64_t offset, uint64_t size)
{
	return offset <= f->size && size <= f->size - offset;
}

static bool load_bytes(const struct file *f, uint64_t offset, uint8_t *p, size_t n)
{
	struct pd_error ignored;

	return is_in_file(f, offset, n) &&
	       pd_source_pread(f->source, offset, p, n, &ignored) == (int64_t)n;
}

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

/* Returns the size that an attribute at this offset states; 0 if there is no attribute. */
static uint64_t attr_at(const struct file *f, uint64_t offset)
{
	uint8_t bytes[8];
	uint64_t size;

	if (!load_bytes(f, offset, bytes, sizeof(bytes)))
		return 0;
	size = pd_attr_size_load(bytes, f->swap);
	if (size == 0)	/* as written by the first versions of perf */
		size = PD_ATTR_SIZE_VER0;
	return size >= PD_ATTR_SIZE_VER0 && size <= ATTR_MAX && size % 8 == 0 ? size : 0;
}

static bool attrs_fit(const struct file *f, uint64_t offset, uint64_t size, uint64_t stride)
{
	const uint64_t own = attr_at(f, offset);

	return own && stride >= own + PD_SECTION_SIZE && stride <= ATTR_MAX && size &&
	       size % stride == 0 && is_in_file(f, offset, size);
}

/* Returns whether the attributes here are as perf writes them: each fills its entry up to its
 * ids. */
static bool attrs_fill(const struct file *f, uint64_t offset, uint64_t size, uint64_t stride)
{
	return attrs_fit(f, offset, size, stride) &&
	       attr_at(f, offset) + PD_SECTION_SIZE == stride;
}

static void recover_attrs(struct file *f, struct pd_header_numbers *h)
{
	const uint64_t stride = attr_at(f, h->attrs.offset) + PD_SECTION_SIZE;
	const uint64_t before = h->data.offset - h->attrs.size,
		       between = h->data.offset - h->attrs.offset;

	if (!h->attrs.size || attrs_fill(f, h->attrs.offset, h->attrs.size, h->attr_size))
		return;
	if (h->data.offset >= h->attrs.size &&
	    attrs_fill(f, before, h->attrs.size, h->attr_size)) {
		replace_number(f, "attrs.offset", 24, &h->attrs.offset, before);
		return;
	}
	if (attrs_fit(f, h->attrs.offset, h->attrs.size, h->attr_size))
		return;
	if (attrs_fit(f, h->attrs.offset, h->attrs.size, stride))
		replace_number(f, "attr_size", 16, &h->attr_size, stride);
	else if (h->data.offset >= h->attrs.size &&
		 attrs_fit(f, before, h->attrs.size, h->attr_size))
		replace_number(f, "attrs.offset", 24, &h->attrs.offset, before);
	else if (h->data.offset >= h->attrs.offset &&
		 attrs_fit(f, h->attrs.offset, between, h->attr_size))
		replace_number(f, "attrs.size", 32, &h->attrs.size, between);
}

/* --- data --- */

/* Returns whether a few records in a row begin at the offset. */
static bool records_at(const struct file *f, uint64_t offset)
{
	for (unsigned int i = 0; i < CHAIN; i++) {
		uint8_t bytes[HEADER];
		struct pd_record_header h;

		if (!load_bytes(f, offset, bytes, sizeof(bytes)))
			return i && offset == f->size;
		h = pd_record_header_load(bytes, f->swap);
		if (!pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type)))
			return false;
		if (h.type == PD_RECORD_AUXTRACE)
			return true;
		offset += h.size;
	}
	return true;
}

static void recover_data_offset(struct file *f, struct pd_header_numbers *h)
{
	const uint64_t attrs_end = h->attrs.offset + h->attrs.size;

	if (records_at(f, h->data.offset) || attrs_end == h->data.offset ||
	    !is_in_file(f, h->attrs.offset, h->attrs.size))
		return;
	if (records_at(f, attrs_end))
		replace_number(f, "data.offset", 40, &h->data.offset, attrs_end);
}

/* Returns whether the feature table may be here: n sections of the file that follow it. */
static bool table_may_be_at(const struct file *f, uint64_t offset, size_t n)
{
	uint8_t bytes[PD_FEATURE_BITS * PD_SECTION_SIZE];

	if (!load_bytes(f, offset, bytes, n * PD_SECTION_SIZE))
		return false;
	for (size_t i = 0; i < n; i++) {
		const uint64_t at = pd_load64(bytes + i * PD_SECTION_SIZE, f->swap);
		const uint64_t size = pd_load64(bytes + i * PD_SECTION_SIZE + 8, f->swap);

		if (!is_in_file(f, at, size) || (size && at < offset + n * PD_SECTION_SIZE))
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

	if (!load_bytes(f, offset, bytes, n > 1 ? sizeof(bytes) : PD_SECTION_SIZE))
		return false;
	first = pd_load64(bytes, f->swap);
	size = pd_load64(bytes + 8, f->swap);
	if (first < offset + n * PD_SECTION_SIZE ||
	    first > offset + PD_FEATURE_TABLES_MAX || !is_in_file(f, first, size))
		return false;
	second = n > 1 ? pd_load64(bytes + PD_SECTION_SIZE, f->swap) : first + size;
	return second == first + size && table_may_be_at(f, offset, n);
}

/* Finds the first feature table after `offset`, stepping from record to record, and by 8 bytes
 * where there is none. */
static bool find_table(const struct file *f, uint64_t offset, size_t n, uint64_t *found)
{
	uint8_t chunk[CHUNK];
	uint64_t from = 0;
	int64_t filled = 0;

	while (is_in_file(f, offset, PD_SECTION_SIZE)) {
		struct pd_error ignored;
		const uint8_t *p;
		uint64_t first;
		struct pd_record_header h;

		if (offset < from || offset + PD_SECTION_SIZE > from + (uint64_t)filled) {
			const uint64_t data = pd_source_data_from(f->source, offset);

			if (data == UINT64_MAX)
				return false;
			if (data > offset)
				offset += (data - offset) & ~7ull;
			from = offset;
			filled = pd_source_pread(f->source, from, chunk, sizeof(chunk), &ignored);
			if (filled < PD_SECTION_SIZE)
				return false;
		}
		p = chunk + (offset - from);
		h = pd_record_header_load(p, f->swap);
		first = pd_load64(p, f->swap);
		if (pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type))) {
			offset += h.size;
			if (h.type == PD_RECORD_AUXTRACE &&
			    is_in_file(f, offset, pd_load64(p + 8, f->swap)))
				offset += pd_load64(p + 8, f->swap);
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

/* Returns whether the features are after the stated end of the records. */
static bool is_table_stated(const struct file *f, const struct pd_header_numbers *h,
			    size_t nr_features)
{
	const uint64_t end = h->data.offset + h->data.size;

	return is_in_file(f, h->data.offset, h->data.size) &&
	       (table_at(f, end, nr_features) ||
		pd_feature_own_table_at(f->source, end + nr_features * PD_SECTION_SIZE));
}

/* Finds features that are all as far from their stated offsets. Bytes were then inserted before
 * them, or removed: before the attributes if these are as far from theirs, in them if the records
 * are, else in the records. */
static bool recover_moved(struct file *f, struct pd_header_numbers *h, size_t nr_features)
{
	const struct pd_moved_search search = { .source = f->source, .swap = f->swap,
		.file_size = f->size, .data_offset = h->data.offset,
		.data_end = h->data.offset + h->data.size, .nr_features = nr_features };
	uint64_t table;

	if (!pd_moved_features_find(&search, &table))
		return false;
	h->moved = table - search.data_end;
	if (!attrs_fill(f, h->attrs.offset, h->attrs.size, h->attr_size) &&
	    attrs_fill(f, h->attrs.offset + h->moved, h->attrs.size, h->attr_size)) {
		h->ids_doubtful = true;
		replace_number(f, "attrs.offset", 24, &h->attrs.offset,
			       h->attrs.offset + h->moved);
		replace_number(f, "data.offset", 40, &h->data.offset, h->data.offset + h->moved);
	} else if (!records_at(f, h->data.offset) && records_at(f, h->data.offset + h->moved)) {
		h->ids_doubtful = h->attrs_doubtful = true;
		replace_number(f, "data.offset", 40, &h->data.offset, h->data.offset + h->moved);
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

	if (recover_moved(f, h, nr_features) ||
	    (is_in_file(f, h->data.offset, h->data.size) &&
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
	struct file f = { .source = source, .swap = swap, .size = file_size, .report = r };
	const bool has_table = nr_features && h->data.size;

	if (has_table && !attrs_fill(&f, h->attrs.offset, h->attrs.size, h->attr_size) &&
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
	const struct file f = { .source = source, .swap = swap, .size = file_size };

	return n && table_may_be_at(&f, offset, n);
}

bool pd_recovery_is_pipe(struct pd_source *source, enum pd_swap swap, uint64_t header_size)
{
	struct file f = { .source = source, .swap = swap };

	return (header_size < PD_FILE_HEADER_V1 || header_size > ATTR_MAX || header_size % 8) &&
	       pd_source_size(source, &f.size) && records_at(&f, PD_MAGIC_SIZE);
}
