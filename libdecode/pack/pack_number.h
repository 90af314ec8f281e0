/* pack_number.h - numbers in the forms that the JSON has. */
#ifndef PD_PACK_PACK_NUMBER_H
#define PD_PACK_PACK_NUMBER_H

#include "pack/pack.h"

enum { PD_PACK_CONTRADICTS = -2 };

/* Computes the number of a PD_UINT row from the object's members; bits are numbered as on
 * little-endian machines. Returns 0, 1 if it is not given, or -1 if it is invalid or
 * PD_PACK_CONTRADICTS if it is not what `raw` states (*bad: the member, or NULL). */
int pd_pack_number_of(const struct pd_values *v, pd_node object, const struct pd_field *f,
		      uint64_t *out, const char **bad);

#endif
