/* check.h - what the layout tables have to keep to, so that the code that runs them need not ask. */
#ifndef PD_LINT_CHECK_H
#define PD_LINT_CHECK_H

#include <stddef.h>

/* Calls complain() with a line of text, no newline, for each thing wrong with the tables. Returns how many. */
size_t pd_check_tables(void (*complain)(void *ctx, const char *text), void *ctx);

#endif
