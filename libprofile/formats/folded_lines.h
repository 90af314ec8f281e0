/* folded_lines.h - lines that share most of their text, sorted by bytes without writing them. */
#ifndef PP_FOLDED_LINES_H
#define PP_FOLDED_LINES_H

#include "profile/profile_internal.h"

struct pp_folded_piece {
	struct pd_bytes text;
	uint32_t number;
};

struct pp_folded_line {
	const struct pp_folded_lines *of;
	size_t start, nr;	/* of its numbers */
	uint64_t value;
};

/* A line is a list of pieces. Must be zero-initialized but for the memory. */
struct pp_folded_lines {
	struct pp_memory *memory;
	struct pp_strings pieces;
	uint32_t *numbers;	/* of the pieces of all lines; once sorted, their ranks * 2, + 1 if
				 * another piece begins with it */
	size_t nr_numbers, numbers_capacity;
	struct pp_folded_line *items;
	size_t nr, capacity;
	struct pp_folded_piece *sorted;
};

/* Returns 0, or -1 without memory. */
int pp_folded_add(struct pp_folded_lines *lines, const uint32_t *pieces, size_t nr,
		  uint64_t value);

/* Sorts the lines; none is added afterwards. Returns 0, or -1 without memory. */
int pp_folded_sort(struct pp_folded_lines *lines);

/* Returns less than 0, 0 or more than 0, as memcmp() of the lines, of which a shorter one that the
 * other begins with is first. */
int pp_folded_compare(const struct pp_folded_line *a, const struct pp_folded_line *b);

/* Returns the text of the i-th piece of a sorted line. */
static inline struct pd_bytes pp_folded_text(const struct pp_folded_line *line, size_t i)
{
	return line->of->sorted[line->of->numbers[line->start + i] >> 1].text;
}

void pp_folded_free(struct pp_folded_lines *lines);

#endif
