/* records.h - the tables of record types; records.c looks them up. Each ends with a row whose name is NULL. */
#ifndef PD_LAYOUT_RECORDS_H
#define PD_LAYOUT_RECORDS_H

#include "layout/desc.h"

extern const struct pd_record_desc pd_records_kernel[];	/* types 1 to 63, no gaps from 1 */
extern const struct pd_record_desc pd_records_perf[];	/* 64 and up, no gaps from 64 */
extern const struct pd_record_desc pd_records_simpleperf[];

#endif
