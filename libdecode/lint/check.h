/* check.h - the rules of the layout tables, so that the code that uses them need not check. */
#ifndef PD_LINT_CHECK_H
#define PD_LINT_CHECK_H

#include <stddef.h>

/* Calls complain() with a line of text, without a newline, for each error in the tables. Returns
 * the number of errors. */
size_t pd_check_tables(void (*complain)(void *ctx, const char *text), void *ctx);

#endif
