/* visit.h - how the fields of a record reach a caller, in wire order. */
#ifndef PD_VISIT_H
#define PD_VISIT_H

#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a layout: lives as long as the library. */
struct pd_field;

/* The field's name, as in the JSON; "" for an array's bare element. */
PD_API const char *pd_field_name(const struct pd_field *f);
/* What the field says, in a few words; may be "". */
PD_API const char *pd_field_doc(const struct pd_field *f);

/* An array of numbers as it lies in the file. */
struct pd_numbers {
	const uint8_t *data;
	size_t count;
	unsigned int width;		/* bytes of each: 1, 2, 4 or 8 */
	int swapped;			/* not 0: the other byte order than this machine's */
	const char *const *names;	/* registers: a name for each; else NULL */
};

/* The i-th number, i < count. */
PD_API uint64_t pd_number_at(const struct pd_numbers *n, size_t i);

/* Callbacks; each may be NULL. `f` is the row, spans are borrowed as the record is.
 * Objects: enter(f) fields leave(f). Arrays of objects: enter_array(f, n), n times enter(NULL) fields leave(NULL),
 * leave_array(f). Arrays of bare values: enter_array(f, n), n times text/bytes, leave_array(f). */
struct pd_visitor {
	size_t size;		/* sizeof(struct pd_visitor) of the caller: functions behind it are as if NULL */
	/* Bit-fields come numbered as on little-endian machines, signed numbers sign-extended. */
	void (*number)(void *ctx, const struct pd_field *f, uint64_t value);
	void (*numbers)(void *ctx, const struct pd_field *f, const struct pd_numbers *n);
	/* Any bytes, not only UTF-8. */
	void (*text)(void *ctx, const struct pd_field *f, struct pd_bytes text);
	void (*bytes)(void *ctx, const struct pd_field *f, struct pd_bytes bytes);
	void (*enter)(void *ctx, const struct pd_field *f);
	void (*leave)(void *ctx, const struct pd_field *f);
	void (*enter_array)(void *ctx, const struct pd_field *f, size_t n);
	void (*leave_array)(void *ctx, const struct pd_field *f);
	/* Reserved bytes of the object being left that are not all zero: every reserved span of it. */
	void (*padding)(void *ctx, const struct pd_bytes *spans, size_t n);
};

#ifdef __cplusplus
}
#endif
#endif
