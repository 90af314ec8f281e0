/* unpack.h - files that are compressed as a whole, as kernel modules are. */
#ifndef PS_IMAGE_UNPACK_H
#define PS_IMAGE_UNPACK_H

#include "base/buf.h"
#include "image/status.h"

/* Expands the bytes of an .xz, .zst or .gz file into `out`, which has a budget. Returns PS_NOT_ELF
 * if they are none, PS_BAD_FILE if they are damaged, or PS_OVER_LIMIT. */
enum ps_status ps_unpack(struct pd_bytes in, struct pd_buf *out);

#endif
