/* batch.c - rows of a table, as an array for each column. */
#include "tables/batch.h"

#include <string.h>

size_t pc_width(enum pc_type of)
{
	switch (of) {
	case PC_BOOL:
	case PC_LONG_TEXT:
	case PC_BYTES:
	case PC_STRUCT_LIST:
		return 1;
	case PC_INT32:
	case PC_TEXT:
	case PC_INT32_LIST:
	case PC_TEXT_LIST:
		return 4;
	default:
		return 8;
	}
}

bool pc_is_list(enum pc_type type)
{
	return type >= PC_INT32_LIST;
}

bool pc_has_offsets(enum pc_type type)
{
	return pc_is_list(type) || pc_is_bytes(type);
}

bool pc_is_dictionary(const struct pc_column *c)
{
	return c->type == PC_TEXT && !c->list;
}

bool pc_is_bytes(enum pc_type type)
{
	return type == PC_LONG_TEXT || type == PC_BYTES;
}

size_t pc_nr_members(const struct pc_table *table, size_t column)
{
	size_t n = 0;

	if (table->columns[column].type == PC_STRUCT_LIST)
		while (column + n + 1 < table->nr_columns &&
		       table->columns[column + n + 1].list == column)
			n++;
	return n;
}

bool pc_has_texts(enum pc_type type)
{
	return type == PC_TEXT || type == PC_TEXT_LIST;
}

static void append_offset(struct pc_array *a)
{
	const int32_t items = (int32_t)pc_nr_items(a);

	if (pc_has_offsets(a->column->type))
		pd_buf_append(&a->offsets, &items, sizeof(items));
}

int pc_batch_init(struct pc_batch *b, const struct pc_table *table, struct pc_selection selection,
		  struct pd_budget *budget)
{
	*b = (struct pc_batch){ .table = table, .budget = budget };
	b->arrays = pd_budget_alloc(budget, table->nr_columns * sizeof(*b->arrays));
	b->fields = pd_budget_alloc(budget, table->nr_columns * sizeof(*b->fields));
	b->out_of_range = pd_budget_alloc(budget, table->nr_columns * sizeof(*b->out_of_range));
	if (!b->arrays || !b->fields || !b->out_of_range)
		return -1;
	for (size_t i = 0; i < table->nr_columns; i++) {
		struct pc_array *a = &b->arrays[i];

		a->column = &table->columns[i];
		a->list = a->column->list ? &b->arrays[a->column->list] : NULL;
		a->width = pc_width(a->column->type);
		a->is_on = pc_selects(selection, table, i);
		a->is_list = pc_is_list(a->column->type);
		if (pc_is_field(a))
			b->fields[b->nr_fields++] = (unsigned int)i;
		a->valid.budget = a->values.budget = a->offsets.budget = budget;
		pc_texts_init(&a->texts, budget);
		append_offset(a);
	}
	return 0;
}

static void free_buffers(struct pc_array *a)
{
	pd_buf_free(&a->valid);
	pd_buf_free(&a->values);
	pd_buf_free(&a->offsets);
	pc_texts_free(&a->texts);
}

void pc_batch_clear(struct pc_batch *b)
{
	const bool is_short = !pd_budget_has_room(b->budget, b->budget->limit / 2);

	for (size_t i = 0; i < b->table->nr_columns; i++) {
		struct pc_array *a = &b->arrays[i];

		if (is_short)
			free_buffers(a);
		a->rows = a->nulls = 0;
		a->valid.size = a->values.size = a->offsets.size = 0;
		pc_texts_clear(&a->texts);
		append_offset(a);
	}
	b->rows = 0;
}

void pc_batch_free(struct pc_batch *b)
{
	for (size_t i = 0; b->arrays && i < b->table->nr_columns; i++)
		free_buffers(&b->arrays[i]);
	if (!b->table)
		return;
	pd_budget_free(b->budget, b->arrays, b->table->nr_columns * sizeof(*b->arrays));
	pd_budget_free(b->budget, b->fields, b->table->nr_columns * sizeof(*b->fields));
	pd_budget_free(b->budget, b->out_of_range,
		       b->table->nr_columns * sizeof(*b->out_of_range));
	b->arrays = NULL;
	b->fields = NULL;
	b->out_of_range = NULL;
}

/* Returns the bytes of a row that has no value. */
static size_t size_of_nothing(const struct pc_array *a)
{
	return 1 + (pc_has_offsets(a->column->type) ? sizeof(int32_t) : a->width);
}

size_t pc_batch_size(const struct pc_batch *b)
{
	size_t size = 0;

	for (size_t i = 0; i < b->table->nr_columns; i++)
		size += b->arrays[i].valid.size + b->arrays[i].values.size +
			b->arrays[i].offsets.size + b->arrays[i].texts.bytes.size;
	for (size_t i = 0; i < b->nr_fields; i++) {
		const struct pc_array *a = &b->arrays[b->fields[i]];

		size += (b->rows - a->rows) * size_of_nothing(a);
	}
	return size;
}

/* pd_buf_reserve() with its usual case inline: room that is there. */
static inline uint8_t *reserve_fixed(struct pd_buf *b, size_t n)
{
	return b->capacity - b->size < n ? pd_buf_reserve(b, n) : b->data + b->size;
}

static inline void append_byte(struct pd_buf *b, uint8_t byte)
{
	uint8_t *at = reserve_fixed(b, 1);

	if (!at)
		return;
	*at = byte;
	b->size++;
}

static void append_number(struct pc_array *a, uint64_t value)
{
	const uint32_t half = (uint32_t)value;
	uint8_t *at;

	if (a->width == 1) {
		append_byte(&a->values, value != 0);
		return;
	}
	at = reserve_fixed(&a->values, a->width);
	if (!at)
		return;
	if (a->width == 8)
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &half, sizeof(half));
	a->values.size += a->width;
}

static void append_text(struct pc_batch *b, struct pc_array *a, struct pd_bytes text)
{
	uint32_t id;

	if (pc_has_texts(a->column->type)) {
		id = pc_texts_add(&a->texts, text);
		b->failed |= id == PC_NONE;
		append_number(a, id);
	} else if (a->column->type == PC_BYTES) {
		pd_buf_append(&a->values, text.data, text.size);
	} else {
		pc_append_utf8(&a->values, text);
	}
}

/* Appends n bytes of one value. */
static void append_bytes(struct pd_buf *b, uint8_t value, size_t n)
{
	uint8_t *at = pd_buf_reserve(b, n);

	if (!at)
		return;
	memset(at, value, n);
	b->size += n;
}

/* Appends rows of NULL, or of 0, "" or an empty list. */
static void append_nothing(struct pc_batch *b, struct pc_array *a, size_t n)
{
	const enum pc_type type = a->column->type;
	const bool is_null = a->column->null == PC_NULLABLE;

	append_bytes(&a->valid, !is_null, n);
	a->rows += n;
	a->nulls += is_null ? n : 0;
	if (pc_has_offsets(type))
		for (size_t i = 0; i < n; i++)
			append_offset(a);
	else if (type == PC_TEXT && !is_null)
		for (size_t i = 0; i < n; i++)
			append_text(b, a, (struct pd_bytes){ (const uint8_t *)"", 0 });
	else
		append_bytes(&a->values, 0, n * a->width);
}

/* Ends the list of the last row that has a value, and makes what the rows after it have. */
static void catch_up(struct pc_batch *b, struct pc_array *a)
{
	if (a->is_list && a->offsets.size / sizeof(int32_t) == a->rows)
		append_offset(a);
	if (a->rows < b->rows)
		append_nothing(b, a, b->rows - a->rows);
}

/* Returns the array of a column whose row is not set yet, or NULL: the value is not wanted. */
static struct pc_array *start_value(struct pc_batch *b, unsigned int column)
{
	struct pc_array *a = &b->arrays[column];

	if (!a->is_on || a->rows > b->rows)
		return NULL;
	if (a->rows < b->rows || a->is_list)
		catch_up(b, a);
	append_byte(&a->valid, 1);
	a->rows++;
	return a;
}

void pc_append_int(struct pc_batch *b, unsigned int column, int64_t value)
{
	struct pc_array *a = start_value(b, column);

	if (a)
		append_number(a, (uint64_t)value);
}

void pc_set_double(struct pc_batch *b, unsigned int column, double value)
{
	struct pc_array *a = start_value(b, column);

	if (a)
		pd_buf_append(&a->values, &value, sizeof(value));
}

void pc_append_name(struct pc_batch *b, unsigned int column, const char *name)
{
	struct pc_array *a = start_value(b, column);
	uint32_t id;

	if (!a)
		return;
	id = pc_texts_add_name(&a->texts, name);
	b->failed |= id == PC_NONE;
	append_number(a, id);
}

void pc_set_bytes(struct pc_batch *b, unsigned int column, struct pd_bytes text)
{
	struct pc_array *a = start_value(b, column);

	if (!a)
		return;
	append_text(b, a, text);
	append_offset(a);
}

void pc_set_list(struct pc_batch *b, unsigned int column)
{
	start_value(b, column);
}

void pc_add_struct(struct pc_batch *b, unsigned int column)
{
	pc_add_item(b, column, 0);
}

void pc_add_item(struct pc_batch *b, unsigned int column, uint64_t item)
{
	if (b->arrays[column].is_on)
		append_number(&b->arrays[column], item);
}

void pc_add_text(struct pc_batch *b, unsigned int column, struct pd_bytes text)
{
	if (b->arrays[column].is_on)
		append_text(b, &b->arrays[column], text);
}

/* --- several rows at once --- */

/* Appends n values that the caller sets, or returns NULL: they are not wanted, or there is no
 * memory. */
static uint8_t *append_values(struct pc_batch *b, unsigned int column, size_t n)
{
	struct pc_array *a = &b->arrays[column];
	uint8_t *to;

	if (!a->is_on)
		return NULL;
	catch_up(b, a);
	append_bytes(&a->valid, 1, n);
	a->rows += n;
	to = pd_buf_reserve(&a->values, n * a->width);
	if (to && !a->valid.failed)
		a->values.size += n * a->width;
	return a->valid.failed ? NULL : to;
}

/* Makes the i-th of the last n rows NULL. */
static void remove_value(struct pc_array *a, size_t i, size_t n)
{
	a->valid.data[a->rows - n + i] = 0;
	a->nulls++;
	memset(a->values.data + (a->rows - n + i) * a->width, 0, a->width);
}

void pc_append_rows(struct pc_batch *b, unsigned int column, const void *values, size_t n)
{
	uint8_t *to = append_values(b, column, n);

	if (to)
		memcpy(to, values, n * b->arrays[column].width);
}

/* Returns whether all rows are NULL, so that the column need not be set. */
static bool are_none(const struct pc_array *a, const uint32_t *numbers, size_t n)
{
	size_t i = 0;

	while (i < n && numbers[i] == PC_NONE)
		i++;
	return i == n && a->column->null == PC_NULLABLE;
}

void pc_append_numbers(struct pc_batch *b, unsigned int column, const uint32_t *numbers, size_t n)
{
	uint8_t *to = are_none(&b->arrays[column], numbers, n) ? NULL :
		append_values(b, column, n);

	if (!to)
		return;
	memcpy(to, numbers, n * sizeof(*numbers));
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == PC_NONE)
			remove_value(&b->arrays[column], i, n);
}

void pc_append_counts(struct pc_batch *b, unsigned int column, const uint64_t *counts, size_t n)
{
	uint8_t *to = append_values(b, column, n);

	if (!to)
		return;
	memcpy(to, counts, n * sizeof(*counts));
	for (size_t i = 0; i < n; i++)
		if (counts[i] > INT64_MAX) {
			remove_value(&b->arrays[column], i, n);
			b->out_of_range[column]++;
		}
}

void pc_append_name_rows(struct pc_batch *b, unsigned int column, const char *name, size_t n)
{
	uint8_t *to = name ? append_values(b, column, n) : NULL;
	uint32_t id;

	if (!to)
		return;
	id = pc_texts_add_name(&b->arrays[column].texts, name);
	b->failed |= id == PC_NONE;
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * sizeof(id), &id, sizeof(id));
}

void pc_append_names(struct pc_batch *b, unsigned int column, const char *const *names, size_t n)
{
	uint8_t *to = append_values(b, column, n);
	struct pc_array *a = &b->arrays[column];
	uint32_t id = PC_NONE;

	for (size_t i = 0; to && i < n; i++, to += sizeof(id)) {
		if (!names[i]) {
			remove_value(a, i, n);
			continue;
		}
		if (!i || names[i] != names[i - 1])
			id = pc_texts_add_name(&a->texts, names[i]);
		b->failed |= id == PC_NONE;
		memcpy(to, &id, sizeof(id));
	}
}

void pc_batch_end(struct pc_batch *b)
{
	for (size_t i = 0; i < b->nr_fields; i++)
		catch_up(b, &b->arrays[b->fields[i]]);
}

bool pc_batch_failed(struct pc_batch *b)
{
	for (size_t i = 0; i < b->table->nr_columns; i++) {
		const struct pc_array *a = &b->arrays[i];

		b->failed |= a->valid.failed || a->values.failed || a->offsets.failed;
	}
	return b->failed;
}

void pc_expand_texts(const struct pc_array *a, struct pd_buf *offsets, struct pd_buf *texts)
{
	const uint32_t *ids = (const uint32_t *)(const void *)a->values.data;
	int32_t end = 0;

	pd_buf_append(offsets, &end, sizeof(end));
	for (size_t i = 0; i < pc_nr_items(a); i++) {
		const struct pd_bytes text = pc_texts_at(&a->texts, ids[i]);

		pd_buf_append(texts, text.data, text.size);
		texts->failed |= texts->size > INT32_MAX;
		end = (int32_t)texts->size;
		pd_buf_append(offsets, &end, sizeof(end));
	}
}

void pc_pack_bytes(uint8_t *to, const struct pd_buf *bytes)
{
	memset(to, 0, (bytes->size + 7) / 8);
	for (size_t i = 0; i < bytes->size; i++)
		to[i / 8] |= (uint8_t)(bytes->data[i] << i % 8);
}
