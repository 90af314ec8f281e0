/* sandbox.h - what a process can no longer do while it reads what may come from a stranger.
 *
 * The files are opened first, then the process gives up, for good, what reading needs no more: system calls (seccomp)
 * and paths (Landlock). Of the input nothing but the magic has been looked at until then. What it tries all the same:
 * - programs, processes, sockets, other processes' memory and the like: the process dies of SIGSYS, after a line;
 * - anything else, such as opening a file: an error.
 */
#ifndef PD_TOOLS_SANDBOX_H
#define PD_TOOLS_SANDBOX_H

#include <stdbool.h>

#include "cli.h"

extern const char *const sandbox_words[];

/* The row of the option. The field, a const char *, is NULL when it is not given. */
#define SANDBOX_OPTION(S) \
	{ .kind = CLI_KIND_OPTIONAL, .name = "sandbox", .choices = sandbox_words, .bare = "always", \
	  .help = "give up all rights that reading doesn't need before the input is read: auto (default: as far as " \
		  "the kernel can), always (or fail; so does --sandbox alone), never", CLI_AT(S, sandbox, const char *) }

/* For the manual page. */
#define SANDBOX_DESCRIPTION \
	"A file from a stranger may be made to take over the program that reads it, and a file that was downloaded " \
	"belongs to the user who reads it. The program therefore opens its files and then gives up what it " \
	"doesn't need any more, by seccomp and Landlock: it can't run programs, use the network, reach other " \
	"processes or open other files; trying the first three ends it by SIGSYS, with a message. Where the kernel " \
	"or a container has no seccomp or no Landlock, auto does without; --sandbox is then an error."

/* When does the library need temporary files? */
enum sandbox_tempfile {
	SANDBOX_TEMPFILE_NEVER,
	SANDBOX_TEMPFILE_UNLESS_PLAIN,	/* to unpack or to hold a stream; not for a plain file */
	SANDBOX_TEMPFILE_ALWAYS,
};

struct sandbox {
	const struct cli_tool *tool;
	const char *word;	/* the option's value, or NULL */
	bool verbose;		/* says what auto does without */
	int input;		/* descriptor; not used when there is read_beneath */
	const char *read_beneath;	/* NULL, or the input directory: files in it are opened late */
	const char *write_beneath;	/* NULL, or the output directory: files in it are made late */
	enum sandbox_tempfile spool;	/* with read_beneath, what else is in TMPDIR can be read, too */
	void (*undo)(void *ctx);	/* NULL, or removes half a result when the process apart has died */
};

enum sandbox_place {
	SANDBOX_HERE,
	SANDBOX_APART,	/* in a process of its own: one that has read nothing names or removes files afterwards */
};

/* Is the option's value one of the words? Else says so and returns CLI_USAGE. */
enum cli_exit sandbox_check(const struct cli_tool *tool, const char *word);

/* Does work(ctx), in the sandbox when there is to be one, and returns its status. HERE leaves the process in it.
 * APART, what work does to memory is lost, and a signal that ends it ends this process, too; without a sandbox there is
 * only one process. Call it before there are threads. CLI_USAGE, after saying why: the sandbox can't be had. */
enum cli_exit sandbox_run(const struct sandbox *s, enum sandbox_place place,
			  enum cli_exit (*work)(void *ctx), void *ctx);

#endif
