/* sample_id_flag.h - whether records end with a sample_id: attr.sample_id_all, which all events of
 * a recording have in common, and the sizes of the records. */
#ifndef PD_SESSION_SAMPLE_ID_FLAG_H
#define PD_SESSION_SAMPLE_ID_FLAG_H

#include "session/session.h"

enum pd_sample_id_seen {
	PD_SAMPLE_ID_UNKNOWN,
	PD_SAMPLE_ID_ABSENT,
	PD_SAMPLE_ID_PRESENT,
};

/* Returns what the size of a whole kernel record tells; `event` is its event, or one of the same
 * layout. */
enum pd_sample_id_seen pd_session_see_sample_id(struct pd_session *s, const struct pd_attr *event,
						struct pd_bytes record);

/* Returns what the bytes of an attribute state. */
enum pd_sample_id_seen pd_session_sample_id_flag(const struct pd_session *s, struct pd_bytes attr);

/* Changes the flag of an event that has it (not PD_SAMPLE_ID_UNKNOWN); it is then restored
 * (pd_attr.is_restored). pd_session_compare_events() must follow. Returns 0, or -1 without
 * memory. */
int pd_session_toggle_sample_id(struct pd_session *s, struct pd_attr *a);

#endif
