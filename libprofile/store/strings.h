/* strings.h - strings, each kept once. */
#ifndef PP_STRINGS_H
#define PP_STRINGS_H

#include "store/index.h"
#include "pd/bytes.h"

/* Must be zero-initialized. */
struct pp_strings {
	char *bytes;
	size_t size, capacity;
	struct pp_string {
		size_t start, size;
	} *items;
	size_t nr, items_capacity;
	struct pp_index index;
};

/* Returns the number of the string, or PP_NONE without memory. */
uint32_t pp_strings_add(struct pp_strings *s, struct pp_memory *m, const char *text, size_t size);

/* Returns a string, with a NUL after it. Valid until the next one is added. */
struct pd_bytes pp_strings_at(const struct pp_strings *s, uint32_t i);

static inline struct pd_bytes pp_bytes(const char *text)
{
	return (struct pd_bytes){ (const uint8_t *)text, __builtin_strlen(text) };
}

/* Returns the last part of a path, all of it if that is empty. */
struct pd_bytes pp_last_part(struct pd_bytes path);

void pp_strings_free(struct pp_strings *s, struct pp_memory *m);

#endif
