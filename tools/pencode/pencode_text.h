/* pencode_text.h - JSON text that versions of json-c read in different ways. */
#ifndef PD_TOOLS_PENCODE_TEXT_H
#define PD_TOOLS_PENCODE_TEXT_H

#include "pencode/pencode_split.h"

/* Returns whether a number exceeds 64 bits: json-c up to 0.16 clamps it to the range; 0.18 refuses
 * it without a reason. */
bool part_exceeds_64_bits(const struct split_part *part);

/* Replaces surrogate pairs ("\ud83d\ude00") by the UTF-8 characters: json-c 0.15 to 0.18 decodes
 * U+1D800 and the like, and unpaired surrogates, to U+FFFD. Returns false for an unpaired
 * surrogate. */
bool part_join_surrogates(struct split_part *part);

#endif
