/* pdecode_schema.h - the schemas of the JSON, on their way out. */
#ifndef PD_TOOLS_PDECODE_SCHEMA_H
#define PD_TOOLS_PDECODE_SCHEMA_H

#include "cli.h"

#define SCHEMA_LIST "-"

/* `what`: SCHEMA_LIST prints the names; a name ("record-" and ".schema.json" may be left out, case does not count) prints
 * that one; a directory gets a file for each. `output`: where to print, NULL for stdout. Says what went wrong. */
enum cli_exit schema_write(const struct cli_tool *tool, const char *what, const char *output);

/* For completion: the i-th name that --schema takes, and the i-th type of record. In buf; NULL at the end. */
const char *schema_word(size_t i, char *buf, size_t size);
const char *schema_record_type(size_t i, char *buf, size_t size);

#endif
