/* rows.h - the table of functions, as a terminal, CSV and JSON show it. */
#ifndef PP_ROWS_H
#define PP_ROWS_H

#include "table/lines.h"
#include "encoding/out.h"

struct pp_row {
	uint64_t value, second;		/* what it is sorted by, and what decides then */
	uint64_t self, total;
	uint64_t all;		/* of its event: what shares are of */
	uint64_t event_samples;
	const struct pp_named *function;
	const struct pp_line *line;
	const uint8_t *name;	/* last, so that equal values have an order of their own */
};

/* Must be zero-initialized. */
struct pp_rows {
	struct pp_lines lines;
	struct pp_row *items;	/* sorted */
};

/* Fills in the rows of the lines that have samples, by event and pp_write.sort; lines.nr of them.
 * Returns 0, or -1 without memory. Free them with pp_rows_free() in both cases. */
int pp_rows_make(struct pp_rows *rows, struct pp_out *out);
void pp_rows_free(struct pp_rows *rows);

/* The word for a key in the head of a table. */
const char *pp_key_word(enum pp_key key);

/* Returns a row's text of a key: the last part of a path, the number of a task or CPU. */
struct pd_bytes pp_row_text(const struct pp_rows *rows, const struct pp_row *row, enum pp_key key);

/* Returns whether texts of a key are numbers, unless the recording has none. */
bool pp_key_is_number(enum pp_key key);

/* Returns the last part of an image's path, "[k]" for the kernel, "[JIT]" for memory in which a
 * program has made code. */
struct pd_bytes pp_image_text(const struct pp_profile *p, const struct pp_named *f);

#endif
