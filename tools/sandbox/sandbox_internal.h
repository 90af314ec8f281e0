/* sandbox_internal.h - the parts of the sandbox: system calls, paths, and rights. */
#ifndef PD_TOOLS_SANDBOX_INTERNAL_H
#define PD_TOOLS_SANDBOX_INTERNAL_H

#include "sandbox/sandbox.h"

enum sandbox_file_kind {
	SANDBOX_NO_FILE,
	SANDBOX_NAMELESS_FILE,	/* by O_TMPFILE */
	/* created and unlinked at once, on file systems without O_TMPFILE */
	SANDBOX_NAMED_FILE,
};

/* Where and how the library will create its temporary files. */
struct sandbox_temporary {
	enum sandbox_file_kind kind;
	const char *directory;
};

/* Returns the kind that works here; leaves no file. */
struct sandbox_temporary sandbox_find_temporary(void);

/* Gives up capabilities, and lowers the limits of s->limits. Returns 0, or an errno. */
int sandbox_restrict_rights(const struct sandbox *s, const struct sandbox_temporary *t);

/* Each returns 0, or an errno if the kernel lacks it. The caller must have set no_new_privs. */
int sandbox_restrict_paths(const struct sandbox *s, const struct sandbox_temporary *t);
int sandbox_restrict_calls(const struct sandbox *s, const struct sandbox_temporary *t);

#endif
