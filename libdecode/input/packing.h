/* packing.h - the compression formats of whole inputs. */
#ifndef PD_INPUT_PACKING_H
#define PD_INPUT_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "input/blocks.h"
#include "pd/bytes.h"
#include "pd/error.h"

#define PD_PACKING_HEAD 16	/* bytes that are enough to recognize each format */

/* One call of a decompressor. */
struct pd_packing_step {
	struct pd_bytes in;
	uint8_t *out;
	size_t room;
	size_t taken, made;	/* bytes taken from `in`, and made in `out` */
	bool ended;		/* reached the end of a member (gzip), frame (zstd) or stream (xz,
				 * bzip2) */
};

struct pd_packing {
	const char *name;
	size_t state_size;
	bool (*starts)(struct pd_bytes head);
	bool (*goes_on)(struct pd_bytes head);	/* returns whether another member follows; NULL: the
						 * same as starts */
	/* Prepares for a member. The state is zeroed the first time; its memory comes from the
	 * blocks, or is charged to their budget. Returns PD_OK, PD_E_LIMIT or PD_E_NOMEM. */
	enum pd_code (*begin)(void *state, struct pd_blocks *b);
	/* Returns PD_OK, PD_E_CODEC, PD_E_LIMIT or PD_E_NOMEM; the output made before an error is
	 * valid. */
	enum pd_code (*step)(void *state, struct pd_packing_step *s);
	void (*end)(void *state);
	const char *remark;	/* reported as PD_E_RESTORED if all was read; or NULL */
};

extern const struct pd_packing pd_packing_gzip, pd_packing_zstd, pd_packing_xz, pd_packing_bzip2,
	pd_packing_newlines;

/* Returns the format by the first PD_PACKING_HEAD bytes, or NULL. */
const struct pd_packing *pd_packing_of(struct pd_bytes head);

#endif
