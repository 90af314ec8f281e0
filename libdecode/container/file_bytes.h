/* file_bytes.h - what the bytes of a file are: attributes, records. */
#ifndef PD_CONTAINER_FILE_BYTES_H
#define PD_CONTAINER_FILE_BYTES_H

#include "base/cursor.h"
#include "input/source.h"

#define PD_ATTR_SIZE_MAX 4096	/* of one that a header leads to */

struct pd_file_bytes {
	struct pd_source *source;
	enum pd_swap swap;
	uint64_t size;		/* of the file */
};

bool pd_file_bytes_has(const struct pd_file_bytes *f, uint64_t offset, uint64_t size);

/* Reads n bytes. Returns false if they are not there. */
bool pd_file_bytes_load(const struct pd_file_bytes *f, uint64_t offset, uint8_t *p, size_t n);

/* Returns the size that an attribute at this offset states; 0 if there is no attribute. */
uint64_t pd_file_bytes_attr(const struct pd_file_bytes *f, uint64_t offset);

/* Returns whether there is room for the first attribute in its entry, and for the entries. */
bool pd_file_bytes_attrs_fit(const struct pd_file_bytes *f, uint64_t offset, uint64_t size,
			     uint64_t stride);

/* Returns whether the attributes here are as perf writes them: each fills its entry up to its
 * ids. */
bool pd_file_bytes_attrs_fill(const struct pd_file_bytes *f, uint64_t offset, uint64_t size,
			      uint64_t stride);

/* Returns whether a few records in a row begin at the offset. */
bool pd_file_bytes_records(const struct pd_file_bytes *f, uint64_t offset);

#endif
