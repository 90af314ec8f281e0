/* records.h - the tables of record types, which records.c searches. Each ends with a row whose name
 * is NULL.
 */
#ifndef PD_LAYOUT_RECORDS_H
#define PD_LAYOUT_RECORDS_H

#include "layout/desc.h"

#define TYPE(n) PD_RECORD_##n, #n

extern const struct pd_record_desc pd_records_perf[];	/* no gaps from PD_RECORD_USER_START */
extern const struct pd_record_desc pd_records_simpleperf[];

#endif
