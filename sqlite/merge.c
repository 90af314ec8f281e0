/* merge.c - equal rows of a batch as one row: see merge.h. */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 4096, SLOTS = 4 * MOST_ROWS, ROW_UNKNOWN = UINT16_MAX };

bool pq_is_merged(const struct pc_column *c)
{
	return !c->list && (c->type == PC_TEXT || c->type == PC_INT32 || c->type == PC_INT64);
}

/* --- distinct rows --- */

/* The values of a row, of texts their places in the dictionary. A value that is NULL is 0. */
struct row {
	uint64_t values[PQ_MOST_TERMS];
	uint32_t nulls;			/* a bit for each */
	uint32_t count;
};

struct merger {
	struct column {
		const uint8_t *valid, *values;
		bool is_wide;		/* int64, not int32 */
	} columns[PQ_MOST_TERMS];
	size_t nr_columns, nr_rows;
	struct row rows[MOST_ROWS];
	uint16_t slots[SLOTS];		/* numbers of rows, by their hash */
};

static void set_columns(struct merger *m, const struct pc_table *t, uint64_t columns,
			const struct ArrowArray *batch)
{
	for (size_t i = 0; i < t->nr_columns && m->nr_columns < PQ_MOST_TERMS; i++) {
		const struct ArrowArray *a;

		if (!(columns >> i & 1))
			continue;
		a = batch->children[m->nr_columns];
		m->columns[m->nr_columns++] = (struct column){
			a->buffers[0], a->buffers[1], t->columns[i].type == PC_INT64 };
	}
}

static void read_row(const struct merger *m, size_t at, struct row *to)
{
	to->nulls = 0;
	for (size_t i = 0; i < m->nr_columns; i++) {
		const struct column *c = &m->columns[i];

		if (c->valid && !(c->valid[at / 8] >> at % 8 & 1)) {
			to->nulls |= 1u << i;
			to->values[i] = 0;
		} else if (c->is_wide) {
			to->values[i] = ((const uint64_t *)(const void *)c->values)[at];
		} else {
			to->values[i] = ((const uint32_t *)(const void *)c->values)[at];
		}
	}
}

static bool is_equal(const struct merger *m, const struct row *a, const struct row *b)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): of a row read */
	bool equal = a->nulls == b->nulls;

	for (size_t i = 0; i < m->nr_columns; i++)
		equal &= a->values[i] == b->values[i];
	return equal;
}

static size_t hash_row(const struct merger *m, const struct row *r)
{
	uint64_t hash = r->nulls;

	for (size_t i = 0; i < m->nr_columns; i++) {
		hash = (hash ^ r->values[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return (size_t)hash;
}

/* Returns the row that equals r, a new one if there is none, or NULL: there are too many. */
static struct row *find_row(struct merger *m, const struct row *r)
{
	size_t slot = hash_row(m, r) % SLOTS;

	while (m->slots[slot] != ROW_UNKNOWN && !is_equal(m, &m->rows[m->slots[slot]], r))
		slot = (slot + 1) % SLOTS;
	if (m->slots[slot] != ROW_UNKNOWN)
		return &m->rows[m->slots[slot]];
	if (m->nr_rows == MOST_ROWS)
		return NULL;
	m->slots[slot] = (uint16_t)m->nr_rows;
	m->rows[m->nr_rows] = *r;
	m->rows[m->nr_rows].count = 0;
	return &m->rows[m->nr_rows++];
}

/* Counts the rows of a batch. Returns false if too many differ. */
static bool count_rows(struct merger *m, size_t n)
{
	struct row *last = NULL, row;

	memset(m->slots, 0xff, sizeof(m->slots));
	for (size_t i = 0; i < n; i++) {
		read_row(m, i, &row);
		if (!last || !is_equal(m, last, &row))
			last = find_row(m, &row);
		if (!last)
			return false;
		last->count++;
	}
	return true;
}

/* --- a batch of them --- */

/* Memory of a batch and the arrays in it, which are not moved away. */
struct owned {
	struct ArrowArray children[PQ_MOST_TERMS], dictionaries[PQ_MOST_TERMS];
	struct ArrowArray *pointers[PQ_MOST_TERMS];
	const void *valid[1], *buffers[PQ_MOST_TERMS][2], *texts[PQ_MOST_TERMS][3];
	void *memory[4 * PQ_MOST_TERMS];
	size_t nr_memory;
};

static void free_owned(struct owned *o)
{
	while (o->nr_memory)
		free(o->memory[--o->nr_memory]);
	free(o);
}

static void release_batch(struct ArrowArray *batch)
{
	free_owned(batch->private_data);
	batch->release = NULL;
}

static void *allocate(struct owned *o, size_t size)
{
	void *p = calloc(1, size ? size : 1);

	o->memory[o->nr_memory] = p;
	o->nr_memory += p != NULL;
	return p;
}

static void *copy(struct owned *o, const void *from, size_t size)
{
	void *to = allocate(o, size);

	if (to && size)
		memcpy(to, from, size);
	return to;
}

static bool copy_dictionary(struct owned *o, size_t i, const struct ArrowArray *from)
{
	const size_t n = (size_t)from->length;
	const int32_t *ends = from->buffers[1];

	o->texts[i][1] = copy(o, ends, (n + 1) * sizeof(*ends));
	o->texts[i][2] = copy(o, from->buffers[2], (size_t)ends[n]);
	o->dictionaries[i] = (struct ArrowArray){ .length = from->length, .n_buffers = 3,
						  .buffers = o->texts[i] };
	o->children[i].dictionary = &o->dictionaries[i];
	return o->texts[i][1] && o->texts[i][2];
}

/* Makes the i-th column of the distinct rows. Returns false without memory. */
static bool make_column(struct owned *o, const struct merger *m, size_t i,
			const struct ArrowArray *from)
{
	const size_t n = m->nr_rows, width = m->columns[i].is_wide ? 8 : 4;
	uint8_t *valid = allocate(o, n / 8 + 1), *values = allocate(o, n * width);

	o->children[i] = (struct ArrowArray){ .length = (int64_t)n, .n_buffers = 2,
					      .buffers = o->buffers[i] };
	o->buffers[i][0] = valid;
	o->buffers[i][1] = values;
	o->pointers[i] = &o->children[i];
	for (size_t at = 0; valid && values && at < n; at++) {
		const uint64_t value = m->rows[at].values[i];

		if (!(m->rows[at].nulls >> i & 1))
			valid[at / 8] |= (uint8_t)(1 << at % 8);
		if (width == sizeof(value))
			((uint64_t *)(void *)values)[at] = value;
		else
			((uint32_t *)(void *)values)[at] = (uint32_t)value;
	}
	return valid && values && (!from->dictionary || copy_dictionary(o, i, from->dictionary));
}

static int make_batch(const struct merger *m, struct ArrowArray *batch)
{
	struct owned *o = calloc(1, sizeof(*o));
	bool failed = !o;

	for (size_t i = 0; !failed && i < m->nr_columns; i++)
		failed = !make_column(o, m, i, batch->children[i]);
	if (failed) {
		if (o)
			free_owned(o);
		return SQLITE_NOMEM;
	}
	batch->release(batch);
	*batch = (struct ArrowArray){ .length = (int64_t)m->nr_rows, .n_buffers = 1,
				      .n_children = (int64_t)m->nr_columns, .buffers = o->valid,
				      .children = o->pointers, .release = release_batch,
				      .private_data = o };
	return SQLITE_OK;
}

int pq_merge_rows(const struct pc_table *t, uint64_t columns, struct ArrowArray *batch,
		  uint32_t **counts)
{
	struct merger *m = malloc(sizeof(*m));
	int ret = m ? SQLITE_OK : SQLITE_NOMEM;

	*counts = NULL;
	if (m) {
		m->nr_columns = m->nr_rows = 0;
		set_columns(m, t, columns, batch);
	}
	if (m && count_rows(m, (size_t)batch->length)) {
		*counts = calloc(m->nr_rows + 1, sizeof(**counts));
		for (size_t i = 0; *counts && i < m->nr_rows; i++)
			(*counts)[i] = m->rows[i].count;
		ret = *counts ? make_batch(m, batch) : SQLITE_NOMEM;
	}
	free(m);
	return ret;
}
