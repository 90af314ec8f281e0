/* pdecode_schema.h - print the schemas of the JSON. */
#ifndef PD_TOOLS_PDECODE_SCHEMA_H
#define PD_TOOLS_PDECODE_SCHEMA_H

#include "cli/cli.h"

#define SCHEMA_LIST "-"

/* Prints what `what` selects: SCHEMA_LIST the names; a name ("record-" and ".schema.json" are
 * optional, case does not matter) that schema; a directory gets one file for each schema. `output`:
 * file to print to, NULL for stdout. Returns CLI_OK, or another status after a message. */
enum cli_exit schema_write(const struct cli_tool *tool, const char *what, const char *output);

/* For completion: writes the i-th name that --schema accepts, or the i-th record type, to buf.
 * Returns NULL at the end. */
const char *schema_word(size_t i, char *buf, size_t size);
const char *schema_record_type(size_t i, char *buf, size_t size);

#endif
