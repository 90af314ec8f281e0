/* placeholder_formats.h - formats for tracepoints whose own are damaged: perf refuses or does not survive a file with those. */
#ifndef PD_OUTPUT_PLACEHOLDER_FORMATS_H
#define PD_OUTPUT_PLACEHOLDER_FORMATS_H

#include "session/session.h"

enum pd_placeholder_formats {
	PD_PLACEHOLDERS_NOT_NEEDED,	/* no tracepoints, or all formats are whole */
	PD_PLACEHOLDERS_MADE,
	PD_PLACEHOLDERS_FAILED,	/* no memory */
};

/*
 * tracing: the TRACING_DATA section, or nothing where it is lost. Where a format is damaged or missing a new section is appended
 * to `out`: of each tracepoint among the events the format as it was, or one that has its id and the fields that all have.
 */
enum pd_placeholder_formats pd_placeholder_tracing_data(struct pd_session *s, struct pd_bytes tracing, struct pd_buf *out);

#endif
