/* event_terms.h - what stands between the slashes of an event, and the letters behind it. */
#ifndef RECORD_EVENT_TERMS_H
#define RECORD_EVENT_TERMS_H

#include "event/event.h"

/* "key=value" of any event; value may be NULL. 1: taken, 0: no such key, -1: wrong, said. */
int event_term(struct event *e, const char *key, const char *value, const struct logger *log);

/* "any,u": bits of branch_sample_type are added. False: an unknown word. */
bool parse_branch_filter(const char *text, uint64_t *bits);
/* Where only privilege levels were named: branches of any kind on them. */
uint64_t branches_of_any_kind(uint64_t bits);
/* "dwarf,4096". False: it is none. size is left alone without one. */
bool parse_callchain(const char *text, enum callchain_mode *mode, uint32_t *size);

/* Numbers of the grammar: decimal, though they begin with 0, or 0x and hex digits. */
bool parse_event_number(const char *text, uint64_t *number);
/* Up to 16 hex digits. */
bool parse_event_hex(const char *text, uint64_t *number);

/* One of a list of terms. */
struct term {
	char *key;			/* for free() */
	char *value;			/* part of key's memory, or NULL */
};
/* Takes the next term of "key=value,..." and moves *rest after it. 1, 0: no more, -1: wrong, said.
 * Quoted values may hold commas. */
int event_next_term(const char **rest, struct term *t, const struct logger *log);

#define MODIFIERS "ukhGHpPSDeWIb"
enum modified { MODIFY_EVENTS, MODIFY_GROUP };
/* Applies a term list to the events from `from` on, for events that no PMU's directory describes.
 * Returns 0, or -1 after logging the error. */
int event_common_terms(struct event_list *l, size_t from, const char *terms);

/* u, k, h, ...: of event `from` and all that follow it. 0, or -1 after saying what is wrong. */
int event_modifiers(struct event_list *l, size_t from, const char *letters, enum modified what);
bool is_modifiers(const char *text);

#endif
