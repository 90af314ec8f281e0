/* arrow_array.c - a batch as an ArrowArray: a struct with a child for each column.
 *
 * Source: "The Arrow C data interface" of the Arrow project. */
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_export.h"

enum { MAX_BUFFERS = 3 };

/* Memory that an array owns. A child can be moved away, so each has memory of its own. */
struct array_memory {
	const void *buffers[MAX_BUFFERS];
	void *owned[MAX_BUFFERS];
	struct ArrowArray **pointers;
	struct ArrowArray *children, *dictionary;
};

static void release_array(struct ArrowArray *a)
{
	struct array_memory *m = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (a->children[i]->release)
			a->children[i]->release(a->children[i]);
	if (a->dictionary && a->dictionary->release)
		a->dictionary->release(a->dictionary);
	for (size_t i = 0; i < MAX_BUFFERS; i++)
		free(m->owned[i]);
	free(m->pointers);
	free(m->children);
	free(m->dictionary);
	free(m);
	a->release = NULL;
}

/* Makes an array with a validity buffer, and n children, which are to be made. Returns 0 or -1. */
static int make_array(struct ArrowArray *a, size_t rows, size_t n)
{
	struct array_memory *m = calloc(1, sizeof(*m));

	*a = (struct ArrowArray){ .length = (int64_t)rows, .n_buffers = 1 };
	if (!m)
		return -1;
	a->private_data = m;
	a->buffers = m->buffers;
	a->release = release_array;
	if (!n)
		return 0;
	m->pointers = calloc(n, sizeof(struct ArrowArray *));
	m->children = calloc(n, sizeof(struct ArrowArray));
	if (!m->pointers || !m->children)
		return -1;
	for (size_t i = 0; i < n; i++)
		m->pointers[i] = &m->children[i];
	a->children = m->pointers;
	a->n_children = (int64_t)n;
	return 0;
}

/* Makes the next buffer, zeroed up to a multiple of 64. Returns its bytes, or NULL. */
static uint8_t *make_buffer(struct ArrowArray *a, int64_t i, size_t size)
{
	struct array_memory *m = a->private_data;
	const size_t aligned = (size / 64 + 1) * 64;

	m->owned[i] = aligned_alloc(64, aligned);
	m->buffers[i] = m->owned[i];
	if (m->owned[i])
		memset((uint8_t *)m->owned[i] + size, 0, aligned - size);
	return m->owned[i];
}

static int add_bytes(struct ArrowArray *a, const void *bytes, size_t n)
{
	uint8_t *to = make_buffer(a, a->n_buffers++, n);

	if (to && n)
		memcpy(to, bytes, n);
	return to ? 0 : -1;
}

static int add_bits(struct ArrowArray *a, int64_t i, const struct pd_buf *bytes)
{
	uint8_t *to = make_buffer(a, i, (bytes->size + 7) / 8);

	if (to)
		pc_pack_bytes(to, bytes);
	return to ? 0 : -1;
}

/* Makes the array of a dictionary. */
static int add_dictionary(struct ArrowArray *a, const struct pc_texts *t)
{
	static const int32_t none;
	struct array_memory *m = a->private_data;
	struct ArrowArray *d = calloc(1, sizeof(*d));

	a->dictionary = m->dictionary = d;
	if (!d || make_array(d, t->nr, 0) ||
	    add_bytes(d, t->nr ? (const void *)t->offsets.data : &none,
		      t->nr ? t->offsets.size : sizeof(none)))
		return -1;
	return add_bytes(d, t->bytes.data, t->nr ? t->bytes.size : 0);
}

static int add_texts(struct ArrowArray *to, const struct pc_array *a)
{
	struct pd_buf offsets = { .budget = a->values.budget }, texts = offsets;
	int ret = -1;

	pc_expand_texts(a, &offsets, &texts);
	if (!offsets.failed && !texts.failed)
		ret = add_bytes(to, offsets.data, offsets.size) ||
		      add_bytes(to, texts.data, texts.size) ? -1 : 0;
	pd_buf_free(&offsets);
	pd_buf_free(&texts);
	return ret;
}

/* Adds the values of a column, or the items of a list. */
static int add_values(struct ArrowArray *to, const struct pc_array *a)
{
	if (pc_has_texts(a->column->type) && !pc_is_dictionary(a->column))
		return add_texts(to, a);
	if (a->column->type == PC_BOOL) {
		if (add_bits(to, to->n_buffers++, &a->values))
			return -1;
	} else if (add_bytes(to, a->values.data, a->values.size)) {
		return -1;
	}
	return pc_is_dictionary(a->column) ? add_dictionary(to, &a->texts) : 0;
}

/* Exports the items of a list: values, or structs, whose members follow the list. */
static int export_items(const struct pc_array *a, size_t members, struct ArrowArray *to)
{
	int ret = make_array(to, pc_nr_items(a), members);

	if (!members)
		return ret ? ret : add_values(to, a);
	for (size_t i = 0; i < members && !ret; i++)
		ret = export_items(&a[i + 1], 0, to->children[i]);
	return ret;
}

static int export_column(const struct pc_array *a, size_t members, struct ArrowArray *to)
{
	const enum pc_type type = a->column->type;

	if (make_array(to, a->rows, pc_is_list(type)))
		return -1;
	to->null_count = (int64_t)a->nulls;
	if (a->nulls && add_bits(to, 0, &a->valid))
		return -1;
	if (pc_has_offsets(type) && add_bytes(to, a->offsets.data, a->offsets.size))
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): make_array() made one of a list */
	return pc_is_list(type) ? export_items(a, members, to->children[0]) : add_values(to, a);
}

static int export_columns(const struct pc_batch *b, struct ArrowArray *out)
{
	for (size_t i = 0; out->children && i < b->nr_fields; i++)
		if (export_column(&b->arrays[b->fields[i]], pc_nr_members(b->table, b->fields[i]),
				  out->children[i]))
			return -1;
	return 0;
}

int pc_export_batch(const struct pc_batch *b, struct ArrowArray *out)
{
	if (!make_array(out, b->rows, b->nr_fields) && !export_columns(b, out))
		return 0;
	if (out->release)
		out->release(out);
	return -1;
}
