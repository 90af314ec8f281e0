/* history.h - the first of two passes: who ran and what was mapped. */
#ifndef PD_TOOLS_HISTORY_H
#define PD_TOOLS_HISTORY_H

#include "cli/cli.h"
#include "files/input.h"
#include "pd/history.h"
#include "pd/index.h"
#include "pd/pd.h"

/* Returns whether the input can be read only once, so that history_make() would copy it. */
bool history_needs_copy(const struct input *in);

/* Copies such an input to a temporary file, which replaces in->fd. Returns CLI_OK, or CLI_INPUT
 * after a message. */
enum cli_exit history_copy(const struct cli_tool *tool, struct input *in);

/* Learns a history of `scope` from the whole input and sets *out, which the caller frees. A stream
 * is first copied to a temporary file, which replaces in->fd; a file is left at the offset that it
 * had. `o` opens the reader; its callbacks are not called: the second pass reports the damage. If
 * the history does not fit into memory, *cut is the error that the caller must report, else PD_OK.
 * `index` gets the places from which the records can be read, unless it is NULL. Returns CLI_OK, or
 * CLI_INPUT after a message. An input that is no recording has an empty history. */
enum cli_exit history_make(const struct cli_tool *tool, struct input *in,
			   const struct pd_reader_options *o, enum pd_history_scope scope,
			   struct pd_history **out, struct pd_index *index, struct pd_error *cut);

/* Reads the input once more, and adds to call stacks in branches the calls that they lost, up to
 * max_frames (0: 127). Reports it if they are not added to all. Returns CLI_OK, or CLI_INPUT after
 * a message. */
enum cli_exit history_stitch(const struct cli_tool *tool, const struct input *in,
			     const struct pd_reader_options *o, struct pd_history *h,
			     uint32_t max_frames);

/* Creates a history that follows the records of a stream: each must be added to it before it is
 * written. Returns CLI_OK, or CLI_OUTPUT after a message. */
enum cli_exit history_begin(const struct cli_tool *tool, const struct pd_reader_options *o,
			    struct pd_history **out);

typedef void history_on_error(void *ctx, const struct pd_error *e);

/* Texts of errors, which must stay as long as the errors are kept. */
struct history_texts {
	char late[160], untimed[160];
};

/* Ends a history that follows the records. Reports what came too late, and what memory did not
 * suffice for: the answers are partial. */
void history_end(struct pd_history *h, struct pd_reader *reader, struct history_texts *texts,
		 history_on_error *on_error, void *ctx);

#endif
