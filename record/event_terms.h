/* event_terms.h - what stands between the slashes of an event, and the letters behind it. */
#ifndef RECORD_EVENT_TERMS_H
#define RECORD_EVENT_TERMS_H

#include "event.h"

/* "key=value" of any event; value may be NULL. 1: taken, 0: no such key, -1: wrong, said. */
int event_term(struct event *e, const char *key, const char *value, const struct say *say);

/* "any,u": bits of branch_sample_type are added. False: an unknown word. */
bool parse_branch_filter(const char *text, uint64_t *bits);
/* "dwarf,4096". False: it is none. size is left alone without one. */
bool parse_callchain(const char *text, enum callchain_mode *mode, uint32_t *size);

/* u, k, h, ...: of event `from` and all that follow it. False: not a modifier. */
bool event_modifiers(struct event_list *l, size_t from, const char *letters);
bool is_modifiers(const char *text);

#endif
