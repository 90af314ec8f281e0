/* event_aux.h - PMUs that trace into an AUX area. */
#ifndef RECORD_EVENT_AUX_H
#define RECORD_EVENT_AUX_H

#include "event/event.h"

/* Stores the terms that the PMU's events have by default, "" if none. dir: its directory. */
void event_aux_terms(enum aux_pmu kind, int dir, char *terms, size_t size);

enum aux_pmu event_aux_kind(const char *pmu, const struct event_attr *attr);
/* Sets what all events of such a PMU have in common. */
void event_aux_attr(struct event *e, int dir);

/* Moves the first event with an AUX area and its group to the front, because ring buffers are
 * mapped for the first event. Returns 0, or an exit status after logging the error. */
int events_aux_to_front(struct event_list *l);

/* Wakes the reader after this many new bytes in an AUX area, where no term sets the watermark. */
void event_aux_wakeup(struct event_list *l, size_t bytes);

bool events_have_aux(const struct event_list *l);

#endif
