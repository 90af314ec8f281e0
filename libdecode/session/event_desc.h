/* event_desc.h - what the EVENT_DESC feature knows of the events: names, ids, and a copy of each attribute. */
#ifndef PD_SESSION_EVENT_DESC_H
#define PD_SESSION_EVENT_DESC_H

#include "session/session.h"

/* Names the session's events, and adds ids where an event has none. An attribute that zeros have damaged gets the copy
 * (pd_attr.is_restored), which is reported as PD_E_RESTORED; other differences as PD_E_MISMATCH. plan: of EVENT_DESC; offset: the
 * section's, for errors. */
void pd_event_desc_update(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes section, uint64_t offset);

#endif
