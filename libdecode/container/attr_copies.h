/* attr_copies.h - whether attributes are damaged, or their copies in EVENT_DESC. */
#ifndef PD_CONTAINER_ATTR_COPIES_H
#define PD_CONTAINER_ATTR_COPIES_H

#include "container/header.h"
#include "stream/record.h"

#define PD_COPY_RECORDS 64	/* damage is in fewer than this many records in a row */

/* Replaces attributes by their copies (pd_attr.copy) if more of the first samples of `data` fit
 * these, and reports that as PD_E_RESTORED. Returns 0, or -1: no memory. */
int pd_choose_attr_copies(struct pd_source *source, struct pd_session *s,
			  const struct pd_section *data, const struct pd_report *r);

/* Returns whether the copies may describe a prepared record, which does not fit its event's
 * attribute. */
bool pd_record_is_of_copy(const struct pd_record *record);

/* The same for a pipe, with one record, which does not fit: prepares it by the copies. Returns 1 if
 * it fits these, which are then used, 0 if it does not, or -1: no memory. */
int pd_choose_by_record(struct pd_record *record, const struct pd_report *r);

#endif
