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

void pp_strings_free(struct pp_strings *s, struct pp_memory *m);

#endif
