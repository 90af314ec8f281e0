/* event_desc.h - takes names, ids, and copies of damaged attributes from the EVENT_DESC feature. */
#ifndef PD_SESSION_EVENT_DESC_H
#define PD_SESSION_EVENT_DESC_H

#include "session/session.h"

/* Names the session's events, and adds ids to events without any. Adds events of a pipe that no
 * record has defined (pd_attr.has_no_record). Replaces attributes that were overwritten with zeros,
 * or are doubtful, by their copies (pd_attr.is_restored), and reports these as PD_E_RESTORED, other
 * differences as PD_E_MISMATCH. `plan` is that of EVENT_DESC; `offset` is that of the section, for
 * error reports. */
void pd_event_desc_update(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes section,
			  uint64_t offset);

#endif
