/* print_format.h - the text of a tracepoint's sample, as its format states that the kernel
 * prints it: `print fmt: "pid=%d %s", REC->pid, __get_str(name)`.
 *
 * The format is compiled once for each event. It may have numbers, strings, REC->FIELD, casts, the
 * operators of C without assignments, __get_str(), __get_dynamic_array(), __print_flags(),
 * __print_symbolic(), __print_hex(), __print_hex_str(), __print_array(); the conversions of
 * printf(), and %ps, %pS, %pI4, %pI6c. A format with anything else is not known.
 */
#ifndef PP_PRINT_FORMAT_H
#define PP_PRINT_FORMAT_H

#include <stdbool.h>

#include "store/memory.h"
#include "pd/bytes.h"
#include "pd/tree.h"

struct pp_print_format;

/* Returns NULL if the format is not known or there is no memory. It is charged to `m`. */
struct pp_print_format *pp_print_format_new(struct pp_memory *m, const char *text);

/* `f` may be NULL. */
void pp_print_format_free(struct pp_print_format *f, struct pp_memory *m);

/* Returns the name of the kernel's function at an address, NULL if it has none, and sets *offset to
 * where in the function it is. Valid until the next call. */
typedef const char *pp_kernel_name(void *ctx, uint64_t address, uint64_t *offset);

enum { PP_PRINTED_MOST = 16 << 10 };

struct pp_printed {
	pp_kernel_name *name;	/* NULL: addresses are shown as they are */
	void *ctx;
	size_t size;
	char text[PP_PRINTED_MOST];
};

/* Makes out->text from the fields of a sample. Returns false if they do not fit the format, or the
 * text is too long. */
bool pp_print_fields(const struct pp_print_format *f, const struct pd_item *fields,
		     struct pp_printed *out);

#endif
