/* text_line.h - takes lines, words and numbers off the front of a text. */
#ifndef PS_IMAGE_TEXT_LINE_H
#define PS_IMAGE_TEXT_LINE_H

#include <stdbool.h>

#include "pd/bytes.h"

/* Takes a line, without its end. Returns false at the end of the text. */
bool ps_take_line(struct pd_bytes *text, struct pd_bytes *line);
/* Takes a word and the blanks before it; empty at the end of the line. */
struct pd_bytes ps_take_word(struct pd_bytes *line);
/* Takes a hexadecimal number as a word, with or without 0x. Returns false if the word is none. */
bool ps_take_hex(struct pd_bytes *line, uint64_t *out);

#endif
