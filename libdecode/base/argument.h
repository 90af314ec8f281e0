/* argument.h - checks what callers pass: NULL, options of another size. */
#ifndef PD_BASE_ARGUMENT_H
#define PD_BASE_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pd/bytes.h"
#include "pd/error.h"

#define PD_OPTIONS_LARGEST 4096	/* a larger `size` was never set */

/* Refuses a call: sets *e, which may be NULL. The text must be static. Returns -1. */
static inline int pd_refuse(struct pd_error *e, const char *text)
{
	if (e)
		*e = (struct pd_error){ .code = PD_E_ARGUMENT, .severity = PD_FATAL, .text = text };
	return -1;
}

/* Returns e, or *unused for a caller that wants no error. */
static inline struct pd_error *pd_error_or(struct pd_error *e, struct pd_error *unused)
{
	return e ? e : unused;
}

/* Copies the options that both sides know to *to, whose other members stay. `from_size` is the
 * struct's own first member. Returns 0, or -1 if it is no size of a struct. */
static inline int pd_options_take(void *to, size_t to_size, const void *from, size_t from_size)
{
	if (from_size < sizeof(size_t) || from_size > PD_OPTIONS_LARGEST)
		return -1;
	memcpy(to, from, from_size < to_size ? from_size : to_size);
	return 0;
}

static inline bool pd_is_span(struct pd_bytes b)
{
	return b.data || !b.size;
}

#endif
