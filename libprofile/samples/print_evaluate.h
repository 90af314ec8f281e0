/* print_evaluate.h - the values of the expressions of a print format, by the rules of C: the kernel
 * would compile them. */
#ifndef PP_PRINT_EVALUATE_H
#define PP_PRINT_EVALUATE_H

#include "samples/print_nodes.h"

/* A sample for which expressions are evaluated. */
struct pp_sample_values {
	const struct pp_print_format *f;
	const struct pd_item *slots[PP_PRINT_SLOTS];
	uint64_t steps;		/* nodes and elements that were visited */
};

/* A recording can have the longest formats, and any number of samples of them. */
enum { PP_STEPS_MOST = 1 << 16 };

/* Finds the fields that the format names. Returns false if one is missing. */
bool pp_find_fields(struct pp_sample_values *v, const struct pd_item *fields);

/* Evaluates a node. Returns false if it is no number, or takes too many steps. */
bool pp_evaluate(struct pp_sample_values *v, uint32_t node, uint64_t *out);

/* Returns the number cast to the bits of a PP_NODE_CAST. */
uint64_t pp_cast(uint64_t n, uint64_t bits);

/* Returns an element of an array, or NULL. */
const struct pd_item *pp_find_element(struct pp_sample_values *v, const struct pd_item *array,
				      uint64_t index);

enum pp_sign { PP_SIGNED, PP_UNSIGNED };

/* Calculates with 64 bits. Returns false if there is no result: division by 0, shift by more than
 * there is. */
bool pp_calculate(enum pp_operator op, enum pp_sign sign, uint64_t a, uint64_t b, uint64_t *out);

#endif
