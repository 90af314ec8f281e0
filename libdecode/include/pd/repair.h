/* repair.h - writes the readable part of a damaged recording as a valid file.
 *
 * Threads, lifetime and units are as in pd/pd.h.
 */
#ifndef PD_REPAIR_H
#define PD_REPAIR_H

#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_repair_report {
	uint64_t records;		/* written */
	uint64_t expanded;		/* part of records: were compressed, are written
					 * uncompressed */
	uint64_t dropped;		/* records not written: cut short, not valid by their
					 * layout, of unknown type, or samples without an event */
	uint64_t bytes_dropped;		/* of dropped records and skipped bytes, including
					 * decompressed ones; pd_reader_account() gives them
					 * separately */
	uint64_t shortened;		/* records whose size was corrected, because it covered
					 * other records or bytes after a sample's fields, or the
					 * data after them (AUXTRACE) ends early */
	uint64_t ids_forgotten;		/* records whose id belongs to no event: set to 0, in
					 * samples to an id of the event they are counted for */
	uint64_t attrs_recovered;	/* attributes whose own size was corrected, or that were
					 * replaced by the copy in EVENT_DESC */
	bool placeholder_formats;	/* tracepoint formats were damaged, and perf refuses such
					 * files: they are replaced by formats that have only the
					 * event's id */
	bool features[256];		/* written */
	bool features_dropped[256];	/* damaged, or never written; without those that are true of
					 * the old file only */
};

/* Writes all records of `r` and its header to `fd`, in the mode and byte order of the input; the
 * files of a directory become one. `r` must be newly opened; it is at its end afterwards. `fd` must
 * be empty and seekable; it is borrowed during the call. Reports damage through the reader's
 * on_error and fills in *report. Returns 0, or -1 and *e: PD_E_IO (errno in have), PD_E_NOMEM,
 * PD_E_LIMIT, PD_E_UNFINISHED (no record was readable), PD_E_NO_ATTR (no event was readable, so
 * records cannot be interpreted). */
PD_API int pd_reader_repair(struct pd_reader *r, int fd, struct pd_repair_report *report,
			    struct pd_error *e);

/* Returns the name of a feature by its bit, "HOSTNAME", or NULL if it is unknown. Static. Safe in
 * any thread. */
PD_API const char *pd_feature_name(uint32_t id);

#ifdef __cplusplus
}
#endif
#endif
