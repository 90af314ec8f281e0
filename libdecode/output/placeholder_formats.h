/* placeholder_formats.h - formats for tracepoints whose own are damaged: perf refuses such a file,
 * or crashes.
 */
#ifndef PD_OUTPUT_PLACEHOLDER_FORMATS_H
#define PD_OUTPUT_PLACEHOLDER_FORMATS_H

#include "session/session.h"

enum pd_placeholder_formats {
	PD_PLACEHOLDERS_NOT_NEEDED,	/* no tracepoints, or no format is damaged */
	PD_PLACEHOLDERS_MADE,
	PD_PLACEHOLDERS_FAILED,	/* out of memory */
};

/* tracing: the TRACING_DATA section, empty if it is lost. If a format is damaged or missing,
 * appends a new section to `out` with a format for each tracepoint among the events: the original
 * one, or one with its id and the common fields. */
enum pd_placeholder_formats
pd_placeholder_tracing_data(struct pd_session *s, struct pd_bytes tracing, struct pd_buf *out);

#endif
