/* viewer.h - show a result: text in a pager, a file in the desktop's program for it.
 *
 * The rest of the tool runs in a child process, which may give up its rights; this one waits for it
 * and ends as it does.
 */
#ifndef PD_TOOLS_VIEWER_H
#define PD_TOOLS_VIEWER_H

#include <stdbool.h>

struct cli_tool;

/* Returns true in a child whose standard output a pager shows: $PAGER, else less. The caller's
 * process does not return then. Returns false if there is to be none: standard output is no
 * terminal or a dumb one, PAGER is "" or "cat", nothing could be started, or PAGER is no command,
 * which is reported. */
bool viewer_page(const struct cli_tool *tool);

/* Returns in a child. The caller's process opens the file by xdg-open after the child has ended
 * without an error. */
void viewer_open_after(const struct cli_tool *tool, const char *path);

#endif
