/* folded_lines.c - lines that share most of their text: see folded_lines.h. */
#include "formats/folded_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

#define MOST_PIECES (1u << 31)

int pp_folded_add(struct pp_folded_lines *lines, const uint32_t *pieces, size_t nr, uint64_t value)
{
	uint32_t *numbers = pp_memory_grow(lines->memory, lines->numbers, &lines->numbers_capacity,
					   lines->nr_numbers + nr, sizeof(*numbers));
	struct pp_folded_line *items;

	if (!numbers)
		return -1;
	lines->numbers = numbers;
	items = pp_memory_grow(lines->memory, lines->items, &lines->capacity, lines->nr + 1,
			       sizeof(*items));
	if (!items)
		return -1;
	lines->items = items;
	if (nr)
		memcpy(numbers + lines->nr_numbers, pieces, nr * sizeof(*numbers));
	items[lines->nr++] = (struct pp_folded_line){ lines, lines->nr_numbers, nr, value };
	lines->nr_numbers += nr;
	return 0;
}

/* --- the order of pieces --- */

static int compare_pieces(const void *a, const void *b)
{
	return pd_compare_bytes(((const struct pp_folded_piece *)a)->text,
				((const struct pp_folded_piece *)b)->text);
}

/* If another piece begins with this one, the next one does. */
static bool is_beginning(const struct pp_folded_lines *lines, size_t rank)
{
	const struct pp_folded_piece *p = &lines->sorted[rank];

	return rank + 1 < lines->pieces.nr && p->text.size <= p[1].text.size &&
	       memcmp(p->text.data, p[1].text.data, p->text.size) == 0;
}

/* Replaces the numbers of all lines. Returns 0, or -1 without memory. */
static int rank_pieces(struct pp_folded_lines *lines)
{
	const size_t n = lines->pieces.nr;
	uint32_t *ranks;

	if (n > MOST_PIECES)
		return -1;
	lines->sorted = pp_memory_zeroed(lines->memory, n, sizeof(*lines->sorted));
	ranks = lines->sorted ? pp_memory_zeroed(lines->memory, n, sizeof(*ranks)) : NULL;
	if (!ranks)
		return -1;
	for (size_t i = 0; i < n; i++)
		lines->sorted[i] = (struct pp_folded_piece){
			pp_strings_at(&lines->pieces, (uint32_t)i), (uint32_t)i
		};
	if (n)
		qsort(lines->sorted, n, sizeof(*lines->sorted), compare_pieces);
	for (size_t i = 0; i < n; i++)
		ranks[lines->sorted[i].number] = (uint32_t)i << 1 | is_beginning(lines, i);
	for (size_t i = 0; i < lines->nr_numbers; i++)
		lines->numbers[i] = ranks[lines->numbers[i]];
	pp_memory_free(lines->memory, ranks, n, sizeof(*ranks));
	return 0;
}

/* --- the order of lines --- */

/* Makes *text the next piece that is not empty, or empty at the end. Returns the number of the
 * piece after it. */
static size_t next_text(const struct pp_folded_line *line, size_t i, struct pd_bytes *text)
{
	while (!text->size && i < line->nr)
		*text = pp_folded_text(line, i++);
	return i;
}

/* Compares the bytes from the i-th pieces on, whose boundaries need not be the same. */
static int compare_rest(const struct pp_folded_line *a, const struct pp_folded_line *b, size_t i)
{
	struct pd_bytes x = { (const uint8_t *)"", 0 }, y = x;
	size_t j = i, both;
	int order = 0;

	for (;;) {
		i = next_text(a, i, &x);
		j = next_text(b, j, &y);
		both = x.size < y.size ? x.size : y.size;
		if (!both)
			return x.size ? 1 : y.size ? -1 : 0;
		order = memcmp(x.data, y.data, both);
		if (order)
			return order;
		x = (struct pd_bytes){ x.data + both, x.size - both };
		y = (struct pd_bytes){ y.data + both, y.size - both };
	}
}

int pp_folded_compare(const struct pp_folded_line *a, const struct pp_folded_line *b)
{
	const uint32_t *x = a->of->numbers + a->start, *y = b->of->numbers + b->start;
	const size_t both = a->nr < b->nr ? a->nr : b->nr;
	size_t i = 0;

	while (i < both && x[i] == y[i])
		i++;
	if (i < both && !((x[i] | y[i]) & 1))
		return x[i] < y[i] ? -1 : 1;
	return compare_rest(a, b, i);
}

static int compare_lines(const void *a, const void *b)
{
	return pp_folded_compare(a, b);
}

int pp_folded_sort(struct pp_folded_lines *lines)
{
	if (rank_pieces(lines))
		return -1;
	if (lines->nr)
		qsort(lines->items, lines->nr, sizeof(*lines->items), compare_lines);
	return 0;
}

void pp_folded_free(struct pp_folded_lines *lines)
{
	pp_memory_free(lines->memory, lines->sorted, lines->pieces.nr, sizeof(*lines->sorted));
	pp_memory_free(lines->memory, lines->numbers, lines->numbers_capacity,
		       sizeof(*lines->numbers));
	pp_memory_free(lines->memory, lines->items, lines->capacity, sizeof(*lines->items));
	pp_strings_free(&lines->pieces, lines->memory);
}
