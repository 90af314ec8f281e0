/* print_parse.h - a parser of print formats. */
#ifndef PP_PRINT_PARSE_H
#define PP_PRINT_PARSE_H

#include "samples/print_nodes.h"

struct pp_parser {
	struct pp_print_format *f;	/* what it makes */
	struct pp_memory *memory;
	const char *at;		/* of a text with a NUL at its end */
	unsigned int nested;
};

/* Takes `token` if it is next; a word only as a whole. */
bool pp_accept(struct pp_parser *p, const char *token);

/* Appends a character to the texts. Returns false without memory. */
bool pp_add_character(struct pp_parser *p, char c);

/* Takes strings in quotes, which follow each other, as one: `size` bytes from *text of the texts.
 * Returns false if there are none, or without memory. */
bool pp_take_string(struct pp_parser *p, uint32_t *text, uint32_t *size);

/* Takes an expression. Returns its node, PP_NONE: it is not known, or there is no memory. */
uint32_t pp_parse_expression(struct pp_parser *p);

#endif
