/* arrow_export.h - schemas and batches in the structures of Arrow's C data interface. */
#ifndef PC_ARROW_EXPORT_H
#define PC_ARROW_EXPORT_H

#include "pd/arrow.h"
#include "tables/batch.h"

/* Both copy all they need: what they make is valid until it is released, by any thread. They return
 * 0, or -1 without memory, and then *out is released. */
int pc_export_schema(const struct pc_batch *b, enum pc_unsigned uint64, struct ArrowSchema *out);
int pc_export_batch(const struct pc_batch *b, struct ArrowArray *out);

#endif
