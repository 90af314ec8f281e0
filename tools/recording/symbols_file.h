/* symbols_file.h - the file of --symbols-file: feature PD_SYMBOLS beside a recording that can't
 * hold it, such as a stream. */
#ifndef PD_TOOLS_SYMBOLS_FILE_H
#define PD_TOOLS_SYMBOLS_FILE_H

#include "cli/cli.h"
#include "pd/bytes.h"

#define SYMBOLS_FILE_UNKNOWN "not a file of precord --symbols-file, or it is damaged"

/* Reads a file without looking at its bytes. *out is for free(). Returns CLI_OK, or CLI_INPUT after
 * a message. */
enum cli_exit symbols_file_read(const struct cli_tool *tool, const char *path,
				struct pd_bytes *out);

#endif
