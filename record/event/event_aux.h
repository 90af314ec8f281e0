/* event_aux.h - PMUs that trace into a second buffer, an AUX area. */
#ifndef RECORD_EVENT_AUX_H
#define RECORD_EVENT_AUX_H

#include "event/event.h"

/* Where the PMU `name`, whose directory is open as `dir`, needs terms that nobody gave: them.
 * "": it needs none. */
void event_aux_terms(enum aux_pmu kind, int dir, char *terms, size_t size);

enum aux_pmu event_aux_kind(const char *pmu, const struct event_attr *attr);
/* What of the attribute is the same for every event of such a PMU. */
void event_aux_attr(struct event *e, int dir);

/* The first event with an AUX area and its group, to the front: buffers are mapped by the first
 * event. 0; or an exit status after saying what is wrong. */
int events_aux_to_front(struct event_list *l);

/* The reader is woken when so many bytes of an area are new. */
void event_aux_wakeup(struct event_list *l, size_t bytes);

bool events_have_aux(const struct event_list *l);

#endif
