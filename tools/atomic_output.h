/* atomic_output.h - where the output goes: it is seen only when all of it is known to be right.
 *
 * Regular files are written without a name, or under another one, and renamed at the end, so nothing is ever written into
 * a file of somebody else. Links are followed as output_place.h has it. stdout, devices and FIFOs get a copy. A directory's files
 * are all made that way.
 */
#ifndef PD_TOOLS_ATOMIC_OUTPUT_H
#define PD_TOOLS_ATOMIC_OUTPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli.h"
#include "output.h"
#include "output_place.h"

struct atomic_output_file {
	int fd;
	char *path;		/* for messages; NULL: copied to stdout or into what is there */
	struct place at;	/* where it is to be */
	char *temporary;	/* its name in that directory until then; NULL: none yet */
};

struct result {
	const struct cli_tool *tool;
	const char *name;	/* of what was asked for, NULL: stdout */
	struct output out;	/* open for what gets a copy */
	struct atomic_output_file main;
	char *directory;	/* with its slash, or NULL */
	int dir;		/* the same; -1: none */
	struct stat source;	/* whoever can't read that can't read the output */
	bool has_source;
	bool made;		/* it was not there */
	struct atomic_output_file *others;
	size_t nr_others;
	int other_error;	/* why there is not one more of them */
};

#define ATOMIC_OUTPUT_FILE_CLOSED { .fd = -1, .at = PLACE_NONE }
#define ATOMIC_OUTPUT_CLOSED { .out = OUTPUT_CLOSED, .main = ATOMIC_OUTPUT_FILE_CLOSED, .dir = -1 }

/* path: NULL or "-": stdout. `path/`, or a directory that is there: a file `data` in it. A file of the caller's own that
 * is there keeps its mode. source: whoever can't read that one can't read the new files, either; NULL: only the umask
 * counts. */
enum cli_exit atomic_output_open(struct result *t, const struct cli_tool *tool, const char *path,
				 const struct stat *source);
/* Another file of the directory: its descriptor, or -1. ctx is the result. */
int atomic_output_open_other(void *ctx, const char *name);
/* What was written takes its place. */
enum cli_exit atomic_output_keep(struct result *t);
/* Leaves nothing behind but what was kept; the first only looks after files, not the directory they are in. */
void atomic_output_drop_files(struct result *t);
void atomic_output_drop(struct result *t);

#endif
