/* trace.h - the fields of a sample, of tracepoints by the format in the recording. */
#ifndef PP_TRACE_H
#define PP_TRACE_H

#include "pd/tree.h"

/* Each sets *out, valid until the next call. *tree is made at the first call, and the caller's to
 * free. Returns PD_OK or PD_E_LIMIT. */

/* Reads all of a record. */
enum pd_code pp_read_record(struct pd_tree **tree, const struct pd_record *record,
			    const struct pd_item **out);
/* Reads the fields of a tracepoint. *out is NULL if the recording has no format of them. */
enum pd_code pp_trace_fields(struct pd_tree **tree, const struct pd_record *record,
			     const struct pd_item **out);

#endif
