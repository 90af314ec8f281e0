/* schema.h - describes the JSON: JSON Schema (draft 2020-12) and Markdown, both from the layout
 * tables.
 *
 * There is a schema for the document, one for a line of JSON Lines, one for each part that these
 * two refer to, and one for each record type. They refer to each other by file name, so they must
 * be in one directory. All functions are safe in any thread.
 */
#ifndef PD_SCHEMA_H
#define PD_SCHEMA_H

#include <stddef.h>

#include "pd/error.h"
#include "pd/output.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PD_SCHEMA_DOCUMENT 0	/* pdecode --format json */
#define PD_SCHEMA_LINE 1	/* a line of pdecode --format jsonl */

/* Returns the number of schemas. */
PD_API size_t pd_schema_count(void);

/* Writes the file name of the i-th schema to `buf`: "document.schema.json", NUL-terminated and cut
 * to `size` bytes; "" from pd_schema_count() on. Returns buf. */
PD_API char *pd_schema_name(size_t i, char *buf, size_t size);
#define PD_SCHEMA_NAME_SIZE 80	/* fits every name */

/* Writes the i-th schema to `out`, terminated by a newline. Returns 0, what out.write returned,
 * ENOMEM, or EINVAL from pd_schema_count() on. */
PD_API int pd_schema_write(size_t i, struct pd_output out);

/* Writes all record types and features to `out`, as tables in Markdown. Returns 0, what out.write
 * returned, or ENOMEM. */
PD_API int pd_doc_write(struct pd_output out);

#ifdef __cplusplus
}
#endif
#endif
