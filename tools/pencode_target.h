/* pencode_target.h - where the output goes: it is seen only when all of it is known to be right.
 *
 * Regular files are written without a name, or under another one, and renamed at the end. stdout and devices get a copy.
 * A directory's files are all made that way.
 */
#ifndef PENCODE_TARGET_H
#define PENCODE_TARGET_H

#include <stdbool.h>

#include "cli.h"
#include "output.h"

struct target_file {
	int fd;
	char *path;		/* NULL: copied to stdout or into what is there */
	char *temporary;	/* NULL: it has no name yet */
};

struct target {
	const struct cli_tool *tool;
	const char *name;	/* of what was asked for, NULL: stdout */
	struct output out;	/* open for what gets a copy */
	struct target_file main;
	char *directory;	/* with its slash, or NULL */
	bool made;		/* it was not there */
	struct target_file *others;
	size_t nr_others;
};

/* path: NULL or "-": stdout. `path/`, or a directory that is there: a file `data` in it. */
enum cli_exit target_open(struct target *t, const struct cli_tool *tool, const char *path);
/* Another file of the directory: its descriptor, or -1. ctx is the target. */
int target_open_other(void *ctx, const char *name);
/* What was written takes its place. */
enum cli_exit target_keep(struct target *t);
/* Leaves nothing behind but what was kept; the first only looks after files, not the directory they are in. */
void target_drop_files(struct target *t);
void target_drop(struct target *t);

#endif
