/* output.h - the stream of bytes that a tool writes, to a file or to stdout.
 *
 * Writes are buffered. After the first failure later writes do nothing, and output_close() reports
 * it, so a full disk is never missed. */
#ifndef PD_TOOLS_OUTPUT_H
#define PD_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

struct output {
	const struct cli_tool *tool;
	const char *name;	/* for messages: the path, or "standard output" */
	int fd;			/* -1: not open */
	bool created;		/* the file is new */
	int error;		/* errno of the first failure, or 0 */
	unsigned char *buffer;
	size_t used;
	uint64_t written;	/* bytes taken, including those still in the buffer */
};

#define OUTPUT_CLOSED { .fd = -1 }

/* Opens path, or stdout when path is NULL or "-". A new file is readable by no more users than the
 * input. An existing file, FIFO or device must be the caller's; a file keeps its content until
 * output_truncate(). input is the path that is read ("-": stdin) or NULL; the same file as output
 * is refused. Returns CLI_OK, or CLI_USAGE or CLI_OUTPUT after a message. */
enum cli_exit output_open(struct output *o, const struct cli_tool *tool, const char *path,
			  const char *input);

/* Writes to a duplicate of a descriptor. `name` is for messages. Returns CLI_OK, or CLI_OUTPUT
 * after a message. */
enum cli_exit output_open_fd(struct output *o, const struct cli_tool *tool, const char *name,
			     int fd);

/* Makes a write that exceeds the limit of file sizes (ulimit -f) fail, as on a full disk, instead
 * of ending the process. A program that this one executes gets the default action. */
void output_catch_size_limit(void);

/* Empties the file. To be called once the input has proved valid, so that a wrong input leaves an
 * older output alone. Returns CLI_OK, or CLI_OUTPUT after a message. */
enum cli_exit output_truncate(struct output *o);

/* Closes without writing, and removes a file that output_open() created. */
void output_discard(struct output *o);

/* Returns 0, or -1 once something has failed. `output` is a struct output; the signature is that of
 * struct pd_output's write. */
int output_write(void *output, const void *bytes, size_t size);

/* Writes the buffer. Returns 0 or -1. */
int output_flush(struct output *o);

bool output_is_terminal(const struct output *o);

/* Flushes, closes and frees. Returns status, or CLI_OUTPUT after a message. When nobody reads any
 * more (EPIPE) the process ends silently. Accepts OUTPUT_CLOSED. */
enum cli_exit output_close(struct output *o, enum cli_exit status);

#endif
