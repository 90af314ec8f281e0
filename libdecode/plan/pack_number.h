/* pack_number.h - numbers in the forms that the JSON has for them. */
#ifndef PD_PLAN_PACK_NUMBER_H
#define PD_PLAN_PACK_NUMBER_H

#include "plan/pack.h"

/* The number that the object's members make for a PD_UINT row, numbered as on little-endian machines. 0; 1: it is not
 * given; -1: given, but no such number (*bad: which part of it, or NULL). */
int pd_pack_number_of(const struct pd_values *v, pd_node object, const struct pd_field *f, uint64_t *out,
		      const char **bad);

/* Puts the object's members named by `bits` into *word. 0, or -1 and *bad. */
int pd_pack_bits(const struct pd_values *v, pd_node object, const struct pd_bits *bits, uint64_t *word,
		 const char **bad);

#endif
