/* texts.h - the dictionary of a column: UTF-8 texts, each kept once. */
#ifndef PC_TEXTS_H
#define PC_TEXTS_H

#include <string.h>

#include "store/index.h"

enum { PC_NR_NAMES = 16 };

struct pc_texts {
	struct pd_buf bytes;	/* the texts, one after the other */
	struct pd_buf offsets;	/* int32_t: nr + 1 of them, or none */
	struct pc_index index;
	size_t nr;
	uint32_t last;		/* the text that was asked for last */
	struct pc_name {
		const char *name;
		uint32_t id;
	} names[PC_NR_NAMES];	/* added last, by address */
};

static inline struct pd_bytes pc_text_bytes(const char *text)
{
	return (struct pd_bytes){ (const uint8_t *)text, strlen(text) };
}

void pc_texts_init(struct pc_texts *t, struct pd_budget *budget);
void pc_texts_clear(struct pc_texts *t);
void pc_texts_free(struct pc_texts *t);

/* Returns the number of the text, or PC_NONE without memory. Bytes that are not UTF-8 become
 * U+FFFD. */
uint32_t pc_texts_add(struct pc_texts *t, struct pd_bytes text);

/* The same for a text that stays where it is, unchanged, until pc_texts_clear(). */
uint32_t pc_texts_add_name(struct pc_texts *t, const char *name);

/* Returns a text. Valid until the next one is added. */
struct pd_bytes pc_texts_at(const struct pc_texts *t, size_t i);

/* Appends a text. Bytes that are not UTF-8 become U+FFFD. */
void pc_append_utf8(struct pd_buf *to, struct pd_bytes text);

#endif
