/* records_end.h - where the whole records in a file end. */
#ifndef PD_STREAM_RECORDS_END_H
#define PD_STREAM_RECORDS_END_H

#include <stdint.h>

#include "session/session.h"

/* The end of the last record that is whole, with its payload, in the bytes from `from`, where a record begins, to `to`.
 * What can't be read back counts as not there. */
uint64_t pd_records_end(struct pd_session *s, int fd, uint64_t from, uint64_t to);

#endif
