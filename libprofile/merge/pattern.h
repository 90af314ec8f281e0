/* pattern.h - which functions an option names. */
#ifndef PP_PATTERN_H
#define PP_PATTERN_H

#include "profile/profile_internal.h"

struct pp_pattern {
	const char *text;	/* borrowed; NULL: names none */
	bool is_name;		/* of a function, so that its brackets and stars are no pattern */
};

/* Returns what `text` means among the functions of the profile. */
struct pp_pattern pp_pattern_of(const struct pp_profile *p, const char *text);

/* Returns whether a function, by its number, is one that the pattern names. */
bool pp_pattern_names(const struct pp_pattern *pattern, const struct pp_profile *p,
		      uint32_t function);

#endif
