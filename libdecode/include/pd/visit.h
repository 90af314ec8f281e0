/* visit.h - callbacks for the fields of a record, in the order of the file. */
#ifndef PD_VISIT_H
#define PD_VISIT_H

#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a layout. Static. */
struct pd_field;

/* Returns the field's name, as in the JSON; "" for the elements of an array. Static. Safe in any
 * thread. */
PD_API const char *pd_field_name(const struct pd_field *f);

/* Returns a short description of the field; may be "". Static. Safe in any thread. */
PD_API const char *pd_field_doc(const struct pd_field *f);

/* An array of numbers as stored in the file. */
struct pd_numbers {
	const uint8_t *data;
	size_t count;
	unsigned int width;		/* bytes of each: 1, 2, 4 or 8 */
	int swapped;			/* not 0: not in this machine's byte order */
	const char *const *names;	/* registers: a name for each; else NULL */
};

/* Returns the i-th number in this machine's byte order, 0 if there are fewer. Safe in any thread
 * while `data` is valid. */
PD_API uint64_t pd_number_at(const struct pd_numbers *n, size_t i);

/* Callbacks; each may be NULL. `f` is the row; spans are valid as long as the record.
 * Objects: enter(f), fields, leave(f). Arrays of objects: enter_array(f, n), n times enter(NULL),
 * fields, leave(NULL), then leave_array(f). Arrays of text or bytes: enter_array(f, n), n times
 * text or bytes, leave_array(f). */
struct pd_visitor {
	size_t size;		/* sizeof(struct pd_visitor) of the caller; functions beyond it are
				 * taken as NULL */
	/* Bit-fields are numbered as on little-endian machines, signed numbers are
	 * sign-extended. */
	void (*number)(void *ctx, const struct pd_field *f, uint64_t value);
	void (*numbers)(void *ctx, const struct pd_field *f, const struct pd_numbers *n);
	/* May be any bytes, not only UTF-8. */
	void (*text)(void *ctx, const struct pd_field *f, struct pd_bytes text);
	void (*bytes)(void *ctx, const struct pd_field *f, struct pd_bytes bytes);
	void (*enter)(void *ctx, const struct pd_field *f);
	void (*leave)(void *ctx, const struct pd_field *f);
	void (*enter_array)(void *ctx, const struct pd_field *f, size_t n);
	void (*leave_array)(void *ctx, const struct pd_field *f);
	/* Called before leave() if reserved bytes of the object are not zero: all its reserved
	 * spans. */
	void (*padding)(void *ctx, const struct pd_bytes *spans, size_t n);
};

#ifdef __cplusplus
}
#endif
#endif
