/* declaration.h - declarations of C in the formats of tracepoints: "unsigned long args[6]". */
#ifndef PD_TRACEPOINT_DECLARATION_H
#define PD_TRACEPOINT_DECLARATION_H

#include "base/cursor.h"

/* The words of a type. */
enum pd_word {
	PD_WORD_UNSIGNED = 1 << 0,
	PD_WORD_SIGNED = 1 << 1,
	PD_WORD_CHAR = 1 << 2,
	PD_WORD_SHORT = 1 << 3,
	PD_WORD_INT = 1 << 4,
	PD_WORD_LONG = 1 << 5,
	PD_WORD_LONG_LONG = 1 << 6,
	PD_WORD_ENUM = 1 << 7,
	PD_WORD_STRUCT = 1 << 8,
	PD_WORD_8 = 1 << 9,
	PD_WORD_16 = 1 << 10,
	PD_WORD_32 = 1 << 11,
	PD_WORD_64 = 1 << 12,
	PD_WORD_DATA_LOC = 1 << 13,
	PD_WORD_REL_LOC = 1 << 14,
};

struct pd_declaration {
	struct pd_bytes before, name, after;	/* after: "[16]", or the end of a function's type */
	unsigned int words;
	bool is_pointer, is_array;
	uint64_t count;				/* of a fixed array; 0: not given in digits */
};

/* Parses a declaration, which is borrowed. Returns false if it is none. */
bool pd_declaration_parse(struct pd_bytes text, struct pd_declaration *d);

/* Returns the size of the type, or 0 if it is unknown. */
unsigned int pd_declaration_size(const struct pd_declaration *d, unsigned int long_size);

/* Returns whether the type has a sign. For kernels whose texts do not state it. */
bool pd_declaration_is_signed(const struct pd_declaration *d);

#endif
