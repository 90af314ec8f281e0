/* event_terms.h - terms between the slashes of an event, and its modifiers. */
#ifndef RECORD_EVENT_TERMS_H
#define RECORD_EVENT_TERMS_H

#include "event/event.h"

/* Applies "key=value", a term of any event; value may be NULL. Returns 1, 0 for an unknown key,
 * or -1 after logging the error. */
int event_term(struct event *e, const char *key, const char *value, const struct logger *log);

/* Adds the bits of branch_sample_type for "any,u". False: an unknown word. */
bool parse_branch_filter(const char *text, uint64_t *bits);
/* Adds "any" where the bits name nothing but privilege levels. */
uint64_t branches_of_any_kind(uint64_t bits);
/* Parses "dwarf,4096". False: malformed. Without a size, *size is unchanged. */
bool parse_callchain(const char *text, enum callchain_mode *mode, uint32_t *size);

/* Parses a number of the grammar: decimal, even with leading zeros, or 0x and hex digits. */
bool parse_event_number(const char *text, uint64_t *number);
/* Up to 16 hex digits. */
bool parse_event_hex(const char *text, uint64_t *number);

struct term {
	char *key;			/* freed by the caller */
	char *value;			/* points into key's memory, or NULL */
};
/* Parses the next term of "key=value,..." and moves *rest past it. Quoted values may contain
 * commas. Returns 1, 0 at the end, or -1 after logging the error. */
int event_next_term(const char **rest, struct term *t, const struct logger *log);

#define MODIFIERS "ukhGHpPSDeWIb"
enum modified { MODIFY_EVENTS, MODIFY_GROUP };
/* Applies a term list to the events from `from` on, for events that no PMU's directory describes.
 * Returns 0, or -1 after logging the error. */
int event_common_terms(struct event_list *l, size_t from, const char *terms);

/* Applies modifiers to the events from `from` on. Returns 0, or -1 after logging the error. */
int event_modifiers(struct event_list *l, size_t from, const char *letters, enum modified what);
bool is_modifiers(const char *text);

#endif
