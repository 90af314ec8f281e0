/* schema.h - what the JSON looks like: JSON Schema (draft 2020-12) and a page for people, both from the layout tables.
 *
 * One schema for the document, one for a line of JSON Lines, one for each part that these two refer to, one for each
 * record type. They refer to each other by file name: they belong in one directory.
 */
#ifndef PD_SCHEMA_H
#define PD_SCHEMA_H

#include <stddef.h>

#include "pd/error.h"
#include "pd/output.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PD_SCHEMA_DOCUMENT 0	/* of pdecode --format json */
#define PD_SCHEMA_LINE 1	/* of a line of pdecode --format jsonl */

/* How many schemas there are. */
PD_API size_t pd_schema_count(void);

/* The file name of the i-th, i < pd_schema_count(): "document.schema.json"; NUL-terminated, cut to size. Returns buf. */
PD_API char *pd_schema_name(size_t i, char *buf, size_t size);
#define PD_SCHEMA_NAME_SIZE 80	/* is room for every name */

/* Writes the i-th, ended by a newline. 0, what out.write returned, or ENOMEM. */
PD_API int pd_schema_write(size_t i, struct pd_output out);

/* Writes every record type and feature as tables in Markdown. 0, what out.write returned, or ENOMEM. */
PD_API int pd_doc_write(struct pd_output out);

#ifdef __cplusplus
}
#endif
#endif
