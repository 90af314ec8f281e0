/* candidates.h - names under which a file may be found, in the order in which they are tried. Opens
 * nothing. */
#ifndef PS_FIND_CANDIDATES_H
#define PS_FIND_CANDIDATES_H

#include <stdbool.h>

#include "pd/symbols.h"

#define PS_PATH_MAX 4096

/* Gives one candidate after the other. Begin with { .places, .what }; the rest is private. */
struct ps_candidates {
	const struct ps_places *places;
	const struct ps_wanted *what;
	size_t pattern, turn;		/* of the next one */
	bool has_values;
	const char *directory;		/* of %D */
	const char *root;		/* of %P */
	char process[32];		/* that of a process that runs */
	const char *held;		/* of %R */
	const char *file;		/* of %F */
	char mapped[80];		/* of %M; "": not known where */
	char id[2 * PS_BUILD_ID_MAX + 1];
	char dirname[PS_PATH_MAX];	/* "": the path is in / */
	char linking[PS_PATH_MAX];	/* of %b */
	char path[PS_PATH_MAX];		/* of the candidate */
};

/* Returns false after the last one. The path is borrowed until the next call. */
bool ps_candidates_next(struct ps_candidates *c, struct ps_candidate *out);

#endif
