/* hottest.h - the path from the root to the heaviest function. */
#ifndef PP_HOTTEST_H
#define PP_HOTTEST_H

#include "encoding/out.h"

/* Writes the path in a line, with shares of `all`: from the root to the heaviest child, until a
 * function has more itself than any below it. */
void pp_put_hottest_path(struct pp_out *out, uint64_t all);

#endif
