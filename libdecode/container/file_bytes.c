/* file_bytes.c - what the bytes of a file are: attributes, records. */
#include "container/file_bytes.h"

#include "stream/resync.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define CHAIN 3		/* records in a row that are enough to recognize the first */

bool pd_file_bytes_has(const struct pd_file_bytes *f, uint64_t offset, uint64_t size)
{
	return offset <= f->size && size <= f->size - offset;
}

bool pd_file_bytes_load(const struct pd_file_bytes *f, uint64_t offset, uint8_t *p, size_t n)
{
	struct pd_error ignored;

	return pd_file_bytes_has(f, offset, n) &&
	       pd_source_pread(f->source, offset, p, n, &ignored) == (int64_t)n;
}

uint64_t pd_file_bytes_attr(const struct pd_file_bytes *f, uint64_t offset)
{
	uint8_t bytes[8];
	uint64_t size;

	if (!pd_file_bytes_load(f, offset, bytes, sizeof(bytes)))
		return 0;
	size = pd_attr_size_load(bytes, f->swap);
	if (size == 0)	/* as written by the first versions of perf */
		size = PD_ATTR_SIZE_VER0;
	return size >= PD_ATTR_SIZE_VER0 && size <= PD_ATTR_SIZE_MAX && size % 8 == 0 ? size : 0;
}

bool pd_file_bytes_attrs_fit(const struct pd_file_bytes *f, uint64_t offset, uint64_t size,
			     uint64_t stride)
{
	const uint64_t own = pd_file_bytes_attr(f, offset);

	return own && stride >= own + PD_SECTION_SIZE && stride <= PD_ATTR_SIZE_MAX && size &&
	       size % stride == 0 && pd_file_bytes_has(f, offset, size);
}

bool pd_file_bytes_attrs_fill(const struct pd_file_bytes *f, uint64_t offset, uint64_t size,
			      uint64_t stride)
{
	return pd_file_bytes_attrs_fit(f, offset, size, stride) &&
	       pd_file_bytes_attr(f, offset) + PD_SECTION_SIZE == stride;
}

bool pd_file_bytes_records(const struct pd_file_bytes *f, uint64_t offset)
{
	for (unsigned int i = 0; i < CHAIN; i++) {
		uint8_t bytes[HEADER];
		struct pd_record_header h;

		if (!pd_file_bytes_load(f, offset, bytes, sizeof(bytes)))
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
