/* records_end.h - finds the end of the last whole record of a file. */
#ifndef PD_STREAM_RECORDS_END_H
#define PD_STREAM_RECORDS_END_H

#include <stdint.h>

#include "session/session.h"

/* Returns the end of the last whole record, including its payload, between the offsets `from`,
 * where a record must begin, and `to`. Bytes that cannot be read back count as missing. */
uint64_t pd_records_end(struct pd_session *s, int fd, uint64_t from, uint64_t to);

#endif
