/* output.h - the one stream of bytes that a tool writes, to a file or to stdout.
 *
 * Writes are gathered into large ones.  The first failure is kept: later writes do nothing, and
 * output_close() tells of it.  A full disk is therefore never missed, at the latest at the end. */
#ifndef PD_TOOLS_OUTPUT_H
#define PD_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

struct output {
	const struct cli_tool *tool;
	const char *name;	/* for messages: the path, or "standard output" */
	int fd;			/* -1: not open */
	bool created;		/* the file was not there before */
	int error;		/* errno of the first failure, or 0 */
	unsigned char *buffer;
	size_t used;
	uint64_t written;	/* bytes taken, those still in the buffer included */
};

#define OUTPUT_CLOSED { .fd = -1 }

/* Opens path, or stdout when path is NULL or "-". A new file is readable by no one who can't read the input; of what is
 * there only the caller's own file, FIFO or device is written to.  What is in the file stays until output_empty().
 * input is the path that is read ("-": stdin) or NULL; an output that is the same file is refused,
 * as it would destroy what is read.  Says what is wrong and returns CLI_USAGE or CLI_OUTPUT; else
 * CLI_OK. */
enum cli_exit output_open(struct output *o, const struct cli_tool *tool, const char *path,
			  const char *input);

/* Empties the file.  Do it when the input has turned out to be one, so that a wrong input leaves an
 * older output alone.  Says what is wrong and returns CLI_OUTPUT; else CLI_OK. */
enum cli_exit output_empty(struct output *o);

/* The other end of that: nothing was written, and a file that was not there before goes. */
void output_drop(struct output *o);

/* Returns 0, or -1 once something has failed.  The parameter is a struct output: the signature is
 * that of struct pd_output's write. */
int output_write(void *output, const void *bytes, size_t size);

/* Hands on what is in the buffer; 0 or -1. */
int output_flush(struct output *o);

/* Flushes when fd, the input, has nothing to read just now, so that a reader at the other end of a
 * pipe is not kept waiting.  One poll() a call, none while the buffer is empty.  0 or -1. */
int output_flush_if_idle(struct output *o, int fd);

bool output_is_terminal(const struct output *o);

/* Flushes, closes and frees.  Returns status, or CLI_OUTPUT after saying what went wrong.  When
 * nobody reads any more (EPIPE) the process ends without a word.  Fine on OUTPUT_CLOSED. */
enum cli_exit output_close(struct output *o, enum cli_exit status);

#endif
