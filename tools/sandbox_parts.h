/* sandbox_parts.h - the two halves of the sandbox. */
#ifndef PD_TOOLS_SANDBOX_PARTS_H
#define PD_TOOLS_SANDBOX_PARTS_H

#include "sandbox.h"

enum sandbox_way {
	SANDBOX_NO_FILE,
	SANDBOX_NAMELESS_FILE,	/* by O_TMPFILE */
	SANDBOX_NAMED_FILE,	/* made and removed at once: the file system knows no other */
};

/* Where the library will make its temporary files, and how. */
struct sandbox_temporary {
	enum sandbox_way way;
	const char *directory;
};

/* What works here; no file stays behind. */
struct sandbox_temporary sandbox_find_temporary(void);

/* Each returns 0, or the errno of what can't be had; the caller has set no_new_privs. */
int sandbox_close_paths(const struct sandbox *s, const struct sandbox_temporary *t);
int sandbox_close_calls(const struct sandbox *s, const struct sandbox_temporary *t);

#endif
