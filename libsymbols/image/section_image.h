/* section_image.h - an ELF file of one section, in memory, for libelf and libdw. */
#ifndef PS_IMAGE_SECTION_IMAGE_H
#define PS_IMAGE_SECTION_IMAGE_H

#include "base/buf.h"
#include "base/cursor.h"

struct ps_section_image {
	const uint8_t *header;	/* of a file of the same class, byte order and machine */
	enum pd_swap swap;
	const char *name;
	struct pd_bytes bytes;
	uint64_t flags, addr;
};

/* Appends the file. Without memory, `failed` of the buffer is set. */
void ps_section_image_write(const struct ps_section_image *s, struct pd_buf *out);

#endif
