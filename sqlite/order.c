/* order.c - the rows of a table in order: see order.h.
 *
 * Each term gives a row a key without a sign. Rows are distributed by the bytes of their keys, the
 * lowest first, as far as keys differ, which takes linear time; the last term comes first. */
#include "api.h"

#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "values.h"

enum { BUCKETS = 256 };

bool pq_is_ordered(const struct pc_column *c)
{
	/* The keys of PC_UINT64 could take all 64 bits, and NULL has one more. */
	return !c->list && (c->type == PC_TEXT ||
			    (pq_is_integer(c) && c->type != PC_UINT64));
}

/* --- keys --- */

/* A text of a batch's dictionary. */
struct text {
	const char *data;
	size_t size;
	uint32_t *rank;		/* where its place among all texts goes, from 1 */
};

static int compare_texts(const void *a, const void *b)
{
	const struct text *x = a, *y = b;
	const size_t size = x->size < y->size ? x->size : y->size;
	const int found = size ? memcmp(x->data, y->data, size) : 0;

	return found ? found : x->size < y->size ? -1 : x->size > y->size;
}

static const struct ArrowArray *array_of(const struct pq_table *t, size_t batch, size_t column)
{
	return t->batches[batch].children[pq_child(t->columns, column)];
}

static size_t count_texts(const struct pq_table *t, size_t column)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_batches; i++)
		n += (size_t)array_of(t, i, column)->dictionary->length;
	return n;
}

/* Sets the ranks of the texts of all batches, one batch after the other. */
static void rank_texts(const struct pq_table *t, size_t column, struct text *texts,
		       uint32_t *ranks)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_batches; i++) {
		const struct ArrowArray *d = array_of(t, i, column)->dictionary;

		for (int64_t k = 0; k < d->length; k++, n++) {
			texts[n].data = pq_text_at(d, k, &texts[n].size);
			texts[n].rank = &ranks[n];
		}
	}
	qsort(texts, n, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < n; i++)
		*texts[i].rank = !i ? 1 : *texts[i - 1].rank +
				 (compare_texts(&texts[i - 1], &texts[i]) != 0);
}

/* Sets the keys of texts: their ranks. Returns 0, or -1 without memory. */
static int set_text_keys(const struct pq_table *t, const struct pc_column *c, size_t column,
			 uint64_t *keys)
{
	const size_t n = count_texts(t, column);
	struct text *texts = calloc(n + 1, sizeof(*texts));
	uint32_t *ranks = calloc(n + 1, sizeof(*ranks)), *of_batch = ranks;
	int64_t id;

	if (texts && ranks)
		rank_texts(t, column, texts, ranks);
	for (size_t i = 0; texts && ranks && i < t->nr_batches; i++) {
		const struct ArrowArray *a = array_of(t, i, column);

		for (int64_t k = 0; k < a->length; k++)
			*keys++ = pq_integer(a, c, k, &id) ? of_batch[id] : 0;
		of_batch += a->dictionary->length;
	}
	free(texts);
	free(ranks);
	return texts && ranks ? 0 : -1;
}

/* Returns the least value of integers. */
static int64_t least_of(const struct pq_table *t, const struct pc_column *c, size_t column)
{
	int64_t value, least = INT64_MAX;

	for (size_t i = 0; i < t->nr_batches; i++) {
		const struct ArrowArray *a = array_of(t, i, column);

		for (int64_t k = 0; k < a->length; k++)
			if (pq_integer(a, c, k, &value) && value < least)
				least = value;
	}
	return least;
}

/* Sets the keys of integers: their distance from the least, from 1. */
static void set_integer_keys(const struct pq_table *t, const struct pc_column *c, size_t column,
			     uint64_t *keys)
{
	const uint64_t least = (uint64_t)least_of(t, c, column);
	int64_t value;

	for (size_t i = 0; i < t->nr_batches; i++) {
		const struct ArrowArray *a = array_of(t, i, column);

		for (int64_t k = 0; k < a->length; k++)
			*keys++ = pq_integer(a, c, k, &value) ? (uint64_t)value - least + 1 : 0;
	}
}

/* --- rows --- */

/* Distributes rows by a byte of their keys. */
static void distribute(const uint64_t *keys, unsigned int shift, const uint32_t *from,
		       uint32_t *to, size_t n)
{
	size_t starts[BUCKETS + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		starts[(keys[i] >> shift & (BUCKETS - 1)) + 1]++;
	for (size_t i = 1; i < BUCKETS; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < n; i++)
		to[starts[keys[from[i]] >> shift & (BUCKETS - 1)]++] = from[i];
}

/* The rows, and room for a step. */
struct rows {
	uint64_t *keys;		/* by row */
	uint32_t *order, *next;
	size_t count;
};

static int order_by(struct rows *r, const struct pq_table *t, const struct pc_column *columns,
		    const struct pq_term *term)
{
	const struct pc_column *c = &columns[term->column];
	uint64_t most = 0;

	if (c->type != PC_TEXT)
		set_integer_keys(t, c, term->column, r->keys);
	else if (set_text_keys(t, c, term->column, r->keys))
		return -1;
	for (size_t i = 0; i < r->count; i++)
		most = r->keys[i] > most ? r->keys[i] : most;
	for (size_t i = 0; term->direction == PQ_DESCENDING && i < r->count; i++)
		r->keys[i] = most - r->keys[i];
	for (unsigned int shift = 0; shift < 64 && most >> shift; shift += 8) {
		uint32_t *last = r->order;

		distribute(r->keys, shift, r->order, r->next, r->count);
		r->order = r->next;
		r->next = last;
	}
	return 0;
}

uint32_t *pq_order_rows(const struct pq_table *t, const struct pc_column *columns,
			const struct pq_term *terms, size_t n)
{
	struct rows r = { .count = t->rows };
	bool failed;

	r.keys = calloc(t->rows + 1, sizeof(*r.keys));
	r.order = calloc(t->rows + 1, sizeof(*r.order));
	r.next = calloc(t->rows + 1, sizeof(*r.next));
	failed = !r.keys || !r.order || !r.next;
	for (size_t i = 0; !failed && i < t->rows; i++)
		r.order[i] = (uint32_t)i;
	while (!failed && n--)
		failed = order_by(&r, t, columns, &terms[n]) != 0;
	free(r.keys);
	free(r.next);
	if (!failed)
		return r.order;
	free(r.order);
	return NULL;
}
