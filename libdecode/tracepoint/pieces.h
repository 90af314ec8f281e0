/* pieces.h - pieces of a tracepoint's format text. */
#ifndef PD_TRACEPOINT_PIECES_H
#define PD_TRACEPOINT_PIECES_H

#include "base/cursor.h"

bool pd_piece_is_blank(uint8_t c);
bool pd_piece_is_digit(uint8_t c);
bool pd_piece_is_word(uint8_t c);	/* of a name or a number */

/* The bytes after the first n, and the first n: there are as many. */
struct pd_bytes pd_piece_after(struct pd_bytes b, size_t n);
struct pd_bytes pd_piece_before(struct pd_bytes b, size_t n);

/* Returns the bytes without the blanks at both ends. */
struct pd_bytes pd_piece_trim(struct pd_bytes b);

bool pd_piece_equals(struct pd_bytes b, const char *word);

/* Removes the prefix and blanks after it from b. Returns false if b has no such prefix. */
bool pd_piece_strip(struct pd_bytes *b, const char *prefix);

/* Takes the piece before the mark and moves *rest past the mark. Returns false if there is none. */
bool pd_piece_split(struct pd_bytes *rest, uint8_t mark, struct pd_bytes *piece);

/* Parses all of b as a decimal number up to max. */
bool pd_piece_number(struct pd_bytes b, uint64_t max, uint64_t *out);

#endif
