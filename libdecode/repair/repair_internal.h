/* repair_internal.h - shared by repair.c and repair_*.c. */
#ifndef PD_REPAIR_REPAIR_INTERNAL_H
#define PD_REPAIR_REPAIR_INTERNAL_H

#include <string.h>

#include "output/compose.h"
#include "output/out.h"
#include "pd/repair.h"
#include "reader/reader.h"

struct pd_repair {
	struct pd_reader *reader;
	struct pd_session *session;
	struct pd_repair_report *report;
	struct pd_out out;
	struct pd_buf buf;
	struct pd_header_values header;
	bool expands;		/* the input has compressed records */
	size_t attrs_done;	/* events of a pipe whose HEADER_ATTR is written */
	struct pd_buf attr_places;	/* struct attr_place: HEADER_ATTRs that were copied */
};

/* --- repair_out.c --- */

/* Sets *e. Returns -1. */
int pd_repair_fail(struct pd_error *e, enum pd_code code, int error);

/* Writes the bytes in p->buf. Returns 0, or -1 and *e. */
int pd_repair_flush(struct pd_repair *p, struct pd_error *e);

/* --- repair_attrs.c --- */

/* Appends an attribute in the size that the header states, with its own size corrected if
 * impossible. */
void pd_repair_append_attr(struct pd_repair *p, const struct pd_attr *a, size_t size,
			   uint64_t ids_at);

/* Returns whether the record is the HEADER_ATTR of an event that pd_repair_write_lost_attrs()
 * writes. */
bool pd_repair_is_wrong_attr(const struct pd_repair *p, const struct pd_record *r);

/* Writes the events of a pipe whose HEADER_ATTR could not be copied, after the features: EVENT_DESC
 * may state their ids. */
int pd_repair_write_lost_attrs(struct pd_repair *p, struct pd_error *e);

/* Notes where the HEADER_ATTR of a pipe was copied to: EVENT_DESC, which comes later, may show that
 * it is damaged. */
int pd_repair_note_attr(struct pd_repair *p, const struct pd_record *r, uint64_t at,
			struct pd_error *e);

/* Rewrites the HEADER_ATTRs whose zeroed attributes EVENT_DESC has restored. */
int pd_repair_rewrite_attrs(struct pd_repair *p, struct pd_error *e);

/* --- repair_records.c --- */

/* Writes the record and the data after it, or what of them is readable. Returns 0, or -1 and *e. */
int pd_repair_copy_record(struct pd_repair *p, const struct pd_record *r, struct pd_error *e);

/* --- repair_features.c --- */

/* Writes the feature tables and the sections that are kept. Returns 0, or -1 and *e. */
int pd_repair_copy_features(struct pd_repair *p, struct pd_error *e);

#endif
