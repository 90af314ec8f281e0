/* trace.h - the fields of a tracepoint's sample, by the format in the recording. */
#ifndef PP_TRACE_H
#define PP_TRACE_H

#include "pd/tree.h"

/* Sets *out to the fields of a record, valid until the next call; NULL if the recording has no
 * format of them. *tree is made at the first call, and the caller's to free. Returns PD_OK or
 * PD_E_LIMIT. */
enum pd_code pp_trace_fields(struct pd_tree **tree, const struct pd_record *record,
			     const struct pd_item **out);

#endif
