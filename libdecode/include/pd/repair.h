/* repair.h - write what is readable of a damaged recording as one that every reader takes. */
#ifndef PD_REPAIR_H
#define PD_REPAIR_H

#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_repair_report {
	uint64_t records;		/* written */
	uint64_t expanded;		/* of these, came out of compressed ones and are written as they are */
	uint64_t dropped;		/* records that are cut, don't keep to their layout, nobody knows, or samples of no event */
	uint64_t bytes_dropped;		/* of these, and bytes that are no record, decompressed ones included; pd_get_account()
					 * tells them apart */
	uint64_t shortened;		/* records whose size is set right: it covers others, or bytes after a sample's fields; or
					 * the data after them (AUXTRACE) end early */
	uint64_t ids_forgotten;		/* records, none of them samples, whose id no event has: it is set to 0 */
	uint64_t attrs_recovered;		/* attributes whose own size is set right, or that are EVENT_DESC's copy */
	bool placeholder_formats;		/* formats of tracepoints are damaged: perf refuses such files, so those have
					 * ones that know no more than the event's id */
	bool features[256];		/* written */
	bool features_dropped[256];	/* damaged, or never written; not those that are true of the old file only */
};

/*
 * Writes all records of `r`, of which none was read yet, and its header to fd, which can seek and is empty, in the mode and byte
 * order of the input (the files of a directory become one). Damage is reported as the reader's options say. 0, or -1 and *e:
 * PD_E_IO (errno in have), PD_E_LIMIT; PD_E_NO_ATTR: no event is left, so that nobody could read the rest.
 */
PD_API int pd_repair(struct pd_reader *r, int fd, struct pd_repair_report *report, struct pd_error *e);

/* "HOSTNAME" of a feature's bit, or NULL. */
PD_API const char *pd_feature_name(uint32_t id);

#ifdef __cplusplus
}
#endif
#endif
