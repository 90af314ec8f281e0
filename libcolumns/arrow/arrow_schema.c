/* arrow_schema.c - the columns of a table as an ArrowSchema: a struct with a child for each.
 *
 * Source: "The Arrow C data interface" of the Arrow project. */
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_export.h"

/* Memory that a schema owns. A child can be moved away, so each has memory of its own. */
struct schema_memory {
	struct ArrowSchema **pointers;
	struct ArrowSchema *children, *dictionary;
	char *metadata;
};

static void release_schema(struct ArrowSchema *s)
{
	struct schema_memory *m = s->private_data;

	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i]->release)
			s->children[i]->release(s->children[i]);
	if (s->dictionary && s->dictionary->release)
		s->dictionary->release(s->dictionary);
	free(m->pointers);
	free(m->children);
	free(m->dictionary);
	free(m->metadata);
	free(m);
	s->release = NULL;
}

/* Makes a schema with n children, which are to be made. Returns 0 or -1. */
static int make_schema(struct ArrowSchema *s, const char *format, const char *name, size_t n)
{
	struct schema_memory *m = calloc(1, sizeof(*m));

	*s = (struct ArrowSchema){ .format = format, .name = name, .metadata = NULL };
	if (!m)
		return -1;
	s->private_data = m;
	s->release = release_schema;
	if (!n)
		return 0;
	m->pointers = calloc(n, sizeof(struct ArrowSchema *));
	m->children = calloc(n, sizeof(struct ArrowSchema));
	if (!m->pointers || !m->children)
		return -1;
	for (size_t i = 0; i < n; i++)
		m->pointers[i] = &m->children[i];
	s->children = m->pointers;
	s->n_children = (int64_t)n;
	return 0;
}

/* Adds the dictionary of a column of texts. Returns 0 or -1. */
static int make_dictionary(struct ArrowSchema *s)
{
	struct schema_memory *m = s->private_data;

	m->dictionary = calloc(1, sizeof(*m->dictionary));
	s->dictionary = m->dictionary;
	return m->dictionary ? make_schema(m->dictionary, "u", "", 0) : -1;
}

/* Returns the format of a column, or of the items of a list. */
static const char *format_of(enum pc_type of, enum pc_unsigned uint64)
{
	switch (of) {
	case PC_BOOL:
		return "b";
	case PC_DOUBLE:
		return "g";
	case PC_LONG_TEXT:
	case PC_TEXT:
	case PC_TEXT_LIST:
		return "u";
	case PC_BYTES:
		return "z";
	case PC_INT32:
	case PC_INT32_LIST:
		return "i";
	case PC_UINT64:
	case PC_UINT64_LIST:
		return uint64 == PC_AS_INT64 ? "l" : "L";
	case PC_INT64:
	case PC_INT64_LIST:
	case PC_STRUCT_LIST:
		break;
	}
	return "l";
}

static int make_leaf(struct ArrowSchema *s, const struct pc_column *c, const char *name,
		     enum pc_unsigned uint64)
{
	const bool is_dictionary = pc_is_dictionary(c);

	if (make_schema(s, is_dictionary ? "i" : format_of(c->type, uint64), name, 0))
		return -1;
	return is_dictionary ? make_dictionary(s) : 0;
}

static int make_struct(struct ArrowSchema *s, const struct pc_column *members, size_t n,
		       enum pc_unsigned uint64)
{
	int ret = make_schema(s, "+s", "element", n);

	for (size_t i = 0; i < n && !ret; i++)
		ret = make_leaf(s->children[i], &members[i], members[i].name, uint64);
	return ret;
}

static int make_column(struct ArrowSchema *s, const struct pc_table *table, size_t column,
		       enum pc_unsigned uint64)
{
	const struct pc_column *c = &table->columns[column];
	const size_t members = pc_nr_members(table, column);
	int ret;

	if (members)
		ret = make_schema(s, "+l", c->name, 1) ||
		      make_struct(s->children[0], c + 1, members, uint64) ? -1 : 0;
	else if (pc_is_list(c->type))
		ret = make_schema(s, "+l", c->name, 1) ||
		      make_leaf(s->children[0], c, "element", uint64) ? -1 : 0;
	else
		ret = make_leaf(s, c, c->name, uint64);
	if (c->null == PC_NULLABLE)
		s->flags |= ARROW_FLAG_NULLABLE;
	return ret;
}

/* --- metadata --- */

static char *put_number(char *to, size_t n)
{
	const int32_t number = (int32_t)n;

	memcpy(to, &number, sizeof(number));
	return to + sizeof(number);
}

static char *put_text(char *to, const char *text)
{
	const size_t n = strlen(text);

	to = put_number(to, n);
	memcpy(to, text, n);
	return to + n;
}

static int add_metadata(struct ArrowSchema *s, enum pc_unsigned uint64)
{
	struct schema_memory *m = s->private_data;
	size_t size = sizeof(int32_t);
	char *to;

	for (size_t i = 0; i < PC_NR_PAIRS; i++)
		size += 2 * sizeof(int32_t) + strlen(pc_pair_at(i, uint64).key) +
			strlen(pc_pair_at(i, uint64).value);
	to = m->metadata = calloc(1, size);
	if (!to)
		return -1;
	to = put_number(to, PC_NR_PAIRS);
	for (size_t i = 0; i < PC_NR_PAIRS; i++)
		to = put_text(put_text(to, pc_pair_at(i, uint64).key), pc_pair_at(i, uint64).value);
	s->metadata = m->metadata;
	return 0;
}

static int export_columns(const struct pc_batch *b, enum pc_unsigned uint64,
			  struct ArrowSchema *out)
{
	for (size_t i = 0; out->children && i < b->nr_fields; i++)
		if (make_column(out->children[i], b->table, b->fields[i], uint64))
			return -1;
	return add_metadata(out, uint64);
}

int pc_export_schema(const struct pc_batch *b, enum pc_unsigned uint64, struct ArrowSchema *out)
{
	if (!make_schema(out, "+s", "", b->nr_fields) && !export_columns(b, uint64, out))
		return 0;
	if (out->release)
		out->release(out);
	return -1;
}
