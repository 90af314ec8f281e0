/* record_refs.h - what perf's own records refer to: ids of events, numbers of features. */
#ifndef PD_STREAM_RECORD_REFS_H
#define PD_STREAM_RECORD_REFS_H

#include "stream/record.h"

/* Returns the damage of a prepared record that its fields do not show: PD_E_NO_ATTR, an id that no
 * event has, or PD_E_UNKNOWN_TYPE, a number that no perf writes. Sets *field, NULL for the record
 * itself. PD_OK: none. */
enum pd_code pd_record_check_refs(const struct pd_record *r, const char **field);

#endif
