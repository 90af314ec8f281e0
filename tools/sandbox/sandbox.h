/* sandbox.h - drop the rights that reading does not need, before untrusted input is read.
 *
 * The files are opened first; then the process gives up, for good, system calls (seccomp), paths
 * (Landlock) and capabilities that it no longer needs. Only the magic of the input is read before
 * that. Afterwards:
 * - executing programs, and creating processes or sockets, reading other processes' memory and the
 *   like end the process by SIGSYS, after a message;
 * - anything else, such as opening a file, fails with an error.
 */
#ifndef PD_TOOLS_SANDBOX_H
#define PD_TOOLS_SANDBOX_H

#include <stdbool.h>

#include "cli/cli.h"

extern const char *const sandbox_words[];

/* The row of the option. The field, a const char *, is NULL without the option. */
#define SANDBOX_OPTION(S) \
	{ .kind = CLI_KIND_OPTIONAL, .name = "sandbox", .choices = sandbox_words, \
		.bare = "always", \
	  .help = "before reading the input, give up all rights that reading does not need: " \
		  "auto (default: as far as the kernel supports it), always (fail if it does " \
		  "not; also --sandbox alone), never", CLI_AT(S, sandbox, const char *) }

/* For the manual page. */
#define SANDBOX_DESCRIPTION \
	"An untrusted file may have been crafted to take control of the program that reads " \
	"it. The program therefore opens its files and then gives up all rights that it no " \
	"longer needs, by seccomp and Landlock: it can't run programs, use the network, " \
	"access other processes or open other files; trying one of the first three ends it " \
	"by SIGSYS, with a message. If the kernel or a container has no seccomp or no " \
	"Landlock, auto does without; --sandbox is then an error."

/* When the library needs temporary files. */
enum sandbox_tempfile {
	SANDBOX_TEMPFILE_NEVER,
	/* to unpack or to hold a stream; not for an uncompressed file */
	SANDBOX_TEMPFILE_UNLESS_PLAIN,
	SANDBOX_TEMPFILE_ALWAYS,
};

enum sandbox_receive {
	SANDBOX_RECEIVE_NOTHING,
	SANDBOX_RECEIVE_FILES,	/* descriptors, over a socket that is open */
};

enum sandbox_limits {
	SANDBOX_USUAL_LIMITS,
	/* no core dump, no file that grows, 8 GiB of private memory; and the kernel ends this
	 * process before others when memory runs out */
	SANDBOX_READER_LIMITS,
};

struct sandbox {
	const struct cli_tool *tool;
	const char *word;	/* the option's value, or NULL */
	bool verbose;		/* report what auto does without */
	int input;		/* descriptor; unused with read_beneath */
	/* NULL, or the input directory: its files are opened late */
	const char *read_beneath;
	/* NULL, or the output directory: its files are created late */
	const char *write_beneath;
	/* with read_beneath, other files in TMPDIR can be read, too */
	enum sandbox_tempfile tempfile;
	enum sandbox_receive receive;
	enum sandbox_limits limits;
	/* NULL, or removes a partial result after the child has died */
	void (*undo)(void *ctx);
};

enum sandbox_place {
	SANDBOX_IN_PROCESS,
	/* so that a process which has read nothing renames or removes files afterwards */
	SANDBOX_IN_CHILD,
};

/* Returns CLI_OK, or CLI_USAGE after a message if the option's value is no valid word. */
enum cli_exit sandbox_check(const struct cli_tool *tool, const char *word);

/* Calls work(ctx), in the sandbox if one is wanted, and returns its status. IN_PROCESS leaves the
 * process in the sandbox. IN_CHILD forks: changes to memory are lost, and a signal that ends the
 * child ends this process, too; without a sandbox there is no fork. Must be called before there are
 * threads. Returns CLI_USAGE after a message if the sandbox is required and not available. */
enum cli_exit sandbox_run(const struct sandbox *s, enum sandbox_place place,
			  enum cli_exit (*work)(void *ctx), void *ctx);

#endif
