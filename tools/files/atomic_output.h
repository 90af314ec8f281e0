/* atomic_output.h - output files that appear only when they are complete.
 *
 * Regular files are written without a name, or under a temporary one, and renamed at the end, so
 * that nothing is ever written into another user's file. Links are followed as output_place.h
 * describes. stdout, devices and FIFOs get a copy of a temporary file at the end.
 */
#ifndef PD_TOOLS_ATOMIC_OUTPUT_H
#define PD_TOOLS_ATOMIC_OUTPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "files/output.h"
#include "files/output_place.h"

struct atomic_output_file {
	int fd;
	char *path;		/* for messages; NULL: to be copied to stdout, a device or FIFO */
	struct place at;	/* final place */
	char *temporary;	/* temporary name in that directory, or NULL */
};

struct atomic_output {
	const struct cli_tool *tool;
	const char *name;	/* as the user gave it; NULL: stdout */
	struct output out;	/* open when the output is a copy */
	struct atomic_output_file main;
	char *directory;	/* path with a trailing slash, or NULL */
	int dir;		/* its descriptor, or -1 */
	struct stat source;	/* the output is readable by no more users than this */
	bool has_source;
	bool is_source;		/* the output would replace the input */
	bool made;		/* the directory is new */
	struct atomic_output_file *others;
	size_t nr_others;
	int other_error;	/* errno of the last open_other(), or 0 */
};

#define ATOMIC_OUTPUT_FILE_CLOSED { .fd = -1, .at = PLACE_NONE }
#define ATOMIC_OUTPUT_CLOSED { .out = OUTPUT_CLOSED, .main = ATOMIC_OUTPUT_FILE_CLOSED, .dir = -1 }

/* path: NULL or "-" for stdout; `path/` or an existing directory for a file `data` in it. A file of
 * the caller's that is replaced keeps its mode. source, of the input, limits who may read the new
 * files; with NULL only the umask does. Returns CLI_USAGE if the output is the input. */
enum cli_exit atomic_output_open(struct atomic_output *a, const struct cli_tool *tool,
				 const char *path,
				 const struct stat *source);
/* Opens the file `name` of a directory, which is made if it is not there. */
enum cli_exit atomic_output_open_in(struct atomic_output *a, const struct cli_tool *tool,
				    const char *directory, const char *name,
				    const struct stat *source);
/* Opens another file of the directory. Returns its descriptor, or -1. ctx is the atomic_output. */
int atomic_output_open_other(void *ctx, const char *name);
/* Opens a file without a name in TMPDIR or /tmp, which nobody else can open. Returns a descriptor,
 * or -1 and errno. */
int atomic_output_scratch(const struct cli_tool *tool);
/* Gives the files their names, or copies them to the stream. The main file of a directory gets its
 * name last, and an older one is removed first, so that it never stands beside files of another
 * run. */
enum cli_exit atomic_output_commit(struct atomic_output *a);
/* Removes what was not committed. The first leaves the directory itself. */
void atomic_output_discard_files(struct atomic_output *a);
void atomic_output_discard(struct atomic_output *a);

#endif
