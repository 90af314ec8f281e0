/* preport_groups.h - frames above the stacks, labels and marks: --group, --labels, --annotate. */
#ifndef PREPORT_GROUPS_H
#define PREPORT_GROUPS_H

#include "cli/cli.h"
#include "preport/preport_formats.h"

/* Reads lists of words into *groups, of enum pp_group. None: those of the format. Returns CLI_OK,
 * or CLI_USAGE after a message. */
enum cli_exit groups_read(const struct cli_tool *tool, const struct cli_list *lists,
			  const struct format *format, uint32_t *groups);

/* Reads a list of words into *groups, and into *labels, of enum pp_label. Returns CLI_OK, or
 * CLI_USAGE after a message. */
enum cli_exit labels_read(const struct cli_tool *tool, const char *list, uint32_t *groups,
			  uint32_t *labels);

/* Reads a list of letters into *marks, of enum pp_mark. NULL: none. Returns CLI_OK, or CLI_USAGE
 * after a message. */
enum cli_exit marks_read(const struct cli_tool *tool, const char *list, uint32_t *marks);

#endif
