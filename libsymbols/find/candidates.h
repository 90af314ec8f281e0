/* candidates.h - names under which a file may be found, in the order in which they are tried. Opens
 * nothing. */
#ifndef PS_FIND_CANDIDATES_H
#define PS_FIND_CANDIDATES_H

#include <stdbool.h>

#include "pd/symbols.h"

#define PS_PATH_MAX 4096

struct ps_candidate {
	char path[PS_PATH_MAX];
	enum ps_file_place place;
};

/* Returns the i-th candidate, or false after the last. */
bool ps_candidate_at(const struct ps_places *places, const struct ps_wanted *what, size_t i,
		     struct ps_candidate *out);

#endif
