/* aux_info.h - AUXTRACE_INFO: parameters for decoders of the AUX data. */
#ifndef RECORD_AUX_INFO_H
#define RECORD_AUX_INFO_H

#include "hostinfo/hostinfo_values.h"
#include "run/recording.h"

/* Writes the record if an event has an AUX area. Returns 0, or -1 and r->file.error. */
int aux_info_write(struct recording *r);

/* The object "cs_etm" of the record. */
struct pd_value aux_info_etm(struct host_values *h, const struct recording *r,
			     const struct event *e);

#endif
