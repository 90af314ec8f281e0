/* source_unpack.h - decompresses a whole input into one stream of bytes. */
#ifndef PD_INPUT_SOURCE_UNPACK_H
#define PD_INPUT_SOURCE_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "input/packing.h"
#include "input/source.h"
#include "pd/bytes.h"
#include "pd/error.h"

struct pd_unpack;

/* Takes ownership of `under`, even on failure. */
struct pd_unpack *pd_unpack_new(struct pd_source *under, const struct pd_packing *packing,
				struct pd_budget *b, struct pd_error *e);
void pd_unpack_free(struct pd_unpack *u);
struct pd_source *pd_unpack_under(const struct pd_unpack *u);

/* Like read(2): returns what is available, without waiting for n bytes; 0 at the end and at
 * damage. */
int64_t pd_unpack_read(struct pd_unpack *u, void *p, size_t n, struct pd_error *e);

/* Returns NULL if there was no damage so far. */
const struct pd_error *pd_unpack_damage(const struct pd_unpack *u);

#endif
