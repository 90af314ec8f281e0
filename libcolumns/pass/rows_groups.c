/* rows_groups.c - the columns of samples that are only there if they are asked for, as far as they
 * take more than a number each. */
#include "pass/columns_internal.h"

#include <stdio.h>
#include <string.h>

/* --- memory accesses --- */

/* Appends the names in a list, "HIT|L1". Returns the length of all. */
static size_t append_names(char *to, size_t size, size_t used, const struct pd_item *names)
{
	const struct pd_item *name = NULL;

	while ((name = pd_item_next(names, name)) && used < size) {
		const char *separator = used ? "|" : "";

		if (name->word)
			used += (size_t)snprintf(to + used, size - used, "%s%s", separator,
						 name->word);
		else if (name->kind == PD_ITEM_TEXT)
			used += (size_t)snprintf(to + used, size - used, "%s%.*s", separator,
						 (int)name->bytes.size,
						 (const char *)name->bytes.data);
		else
			used += (size_t)snprintf(to + used, size - used, "%s%llu", separator,
						 (unsigned long long)name->number);
	}
	return used;
}

/* Sets a text to the names in lists of data_src; `lists` ends with a NULL. */
static void set_names(struct pc_batch *b, unsigned int column, const struct pd_item *data_src,
		      const char *const *lists)
{
	char text[256];
	size_t used = 0;

	for (; *lists; lists++)
		used = append_names(text, sizeof(text), used, pd_item_get(data_src, *lists));
	if (used)
		pc_set_text(b, column, text);
}

static void set_memory(struct pc_batch *b, const struct pd_item *sample)
{
	static const struct {
		unsigned int column;
		const char *lists[4];
	} parts[] = {
		{ PC_SAMPLES_MEM_OP, { "op" } },
		{ PC_SAMPLES_MEM_LVL, { "lvl", "lvl_num", "remote" } },
		{ PC_SAMPLES_MEM_SNOOP, { "snoop", "snoopx" } },
		{ PC_SAMPLES_MEM_LOCK, { "lock" } },
		{ PC_SAMPLES_MEM_TLB, { "dtlb" } },
		{ PC_SAMPLES_MEM_HOPS, { "hops" } },
	};
	const struct pd_item *data_src = pd_item_get(sample, "data_src");

	pc_set_item(b, PC_SAMPLES_DATA_SRC, data_src);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		set_names(b, parts[i].column, data_src, parts[i].lists);
	pc_set_item(b, PC_SAMPLES_INS_LAT, pd_item_get(sample, "weight_struct.var2_w"));
	pc_set_item(b, PC_SAMPLES_RETIRE_LAT, pd_item_get(sample, "weight_struct.var3_w"));
	pc_set_item(b, PC_SAMPLES_TRANSACTION, pd_item_get(sample, "transaction"));
}

/* --- branches --- */

/* Adds the name of a value, or its number where it has none. */
static void add_word(struct pc_batch *b, unsigned int column, const struct pd_item *item)
{
	char number[24] = "";

	if (item && !item->word)
		snprintf(number, sizeof(number), "%llu", (unsigned long long)item->number);
	pc_add_text(b, column, pc_text_bytes(item && item->word ? item->word : number));
}

static void add_branch(struct pc_batch *b, const struct pd_item *entry)
{
	static const struct {
		unsigned int column;
		const char *name;
	} numbers[] = {
		{ PC_SAMPLES_BRANCH_FROM, "from" }, { PC_SAMPLES_BRANCH_TO, "to" },
		{ PC_SAMPLES_BRANCH_MISPRED, "mispred" },
		{ PC_SAMPLES_BRANCH_PREDICTED, "predicted" },
		{ PC_SAMPLES_BRANCH_IN_TX, "in_tx" }, { PC_SAMPLES_BRANCH_ABORT, "abort" },
		{ PC_SAMPLES_BRANCH_CYCLES, "cycles" },
	};

	pc_add_struct(b, PC_SAMPLES_BRANCH);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct pd_item *item = pd_item_get(entry, numbers[i].name);

		pc_add_item(b, numbers[i].column, item ? item->number : 0);
	}
	add_word(b, PC_SAMPLES_BRANCH_TYPE, pd_item_get(entry, "type"));
	add_word(b, PC_SAMPLES_BRANCH_SPEC, pd_item_get(entry, "spec"));
}

static void set_branches(struct pc_batch *b, const struct pd_item *sample)
{
	const struct pd_item *entries = pd_item_get(sample, "branch_stack.entries"), *entry = NULL;

	if (!entries)
		return;
	pc_set_list(b, PC_SAMPLES_BRANCH);
	while ((entry = pd_item_next(entries, entry)))
		add_branch(b, entry);
}

/* --- counts --- */

/* Adds a count. `own`: the sample's event, which counts where no id says otherwise. */
static void add_count(struct pc_columns *c, struct pc_batch *b, const struct pd_item *of,
		      const struct pd_attr *own)
{
	const struct pd_item *value = pd_item_get(of, "value"), *id = pd_item_get(of, "id");
	const struct pd_attr *a = id ? pd_reader_attr_by_id(c->reader, id->number) : own;

	if (!value)
		return;
	pc_add_struct(b, PC_SAMPLES_COUNTS);
	pc_add_item(b, PC_SAMPLES_COUNTS_EVENT, a ? pd_attr_index(a) : UINT64_MAX);
	pc_add_item(b, PC_SAMPLES_COUNTS_VALUE, value->number);
}

static void set_counts(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		       const struct pd_item *sample)
{
	const struct pd_item *read = pd_item_get(sample, "read"), *value = NULL,
			     *values = pd_item_get(read, "values");

	if (!read)
		return;
	pc_set_item(b, PC_SAMPLES_TIME_ENABLED, pd_item_get(read, "time_enabled"));
	pc_set_item(b, PC_SAMPLES_TIME_RUNNING, pd_item_get(read, "time_running"));
	pc_set_list(b, PC_SAMPLES_COUNTS);
	if (!values)
		add_count(c, b, read, f->attr);
	while ((value = pd_item_next(values, value)))
		add_count(c, b, value, NULL);
}

/* --- registers and the stack --- */

static void set_registers(struct pc_batch *b, const struct pd_item *registers, unsigned int abi,
			  unsigned int list)
{
	const struct pd_item *value = NULL, *values = pd_item_get(registers, "regs");

	pc_set_item(b, abi, pd_item_get(registers, "abi"));
	if (!values)
		return;
	pc_set_list(b, list);
	while ((value = pd_item_next(values, value)))
		pc_add_item(b, list, value->number);
}

static void set_stack(struct pc_batch *b, const struct pd_item *sample)
{
	const struct pd_item *data = pd_item_get(sample, "stack_user.data");

	pc_set_item(b, PC_SAMPLES_DYN_SIZE, pd_item_get(sample, "stack_user.dyn_size"));
	if (data)
		pc_set_bytes(b, PC_SAMPLES_USER_STACK, data->bytes);
}

/* --- tracepoints --- */

/* Returns the bytes of the JSON object that `at` starts with. */
static size_t object_size(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *p = at;
	bool is_text = false;
	size_t depth = 0;

	do {
		if (*p == '"')
			is_text = !is_text;
		else if (is_text)
			p += *p == '\\';
		else if (*p == '{')
			depth++;
		else if (*p == '}')
			depth--;
		p++;
	} while (depth && p < end);
	return p < end ? (size_t)(p - at) : 0;
}

/* Quotes in texts are escaped, so that no text has the key. */
static void set_fields(struct pc_columns *c, struct pc_batch *b, const struct pd_record *r)
{
	static const char key[] = ",\"fields\":";
	const struct pd_bytes line = pc_json_of_record(c, r);
	const uint8_t *at = line.size ? memmem(line.data, line.size, key, sizeof(key) - 1) : NULL;
	size_t n;

	if (!at)
		return;
	at += sizeof(key) - 1;
	n = object_size(at, line.data + line.size);
	if (n)
		pc_set_bytes(b, PC_SAMPLES_FIELDS, (struct pd_bytes){ at, n });
}

bool pc_wants_trees(const struct pc_batch *samples)
{
	for (size_t i = PC_SAMPLES_DATA_SRC; i <= PC_SAMPLES_USER_STACK; i++)
		if (samples->arrays[i].is_on)
			return true;
	return false;
}

void pc_set_groups(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		   const struct pd_record *r)
{
	const struct pd_item *sample;
	struct pd_error e;

	if (f->has & PD_HAS_RAW)
		pc_set_bytes(b, PC_SAMPLES_RAW, f->raw);
	if (b->arrays[PC_SAMPLES_FIELDS].is_on && f->has & PD_HAS_RAW)
		set_fields(c, b, r);
	if (!c->has_trees)
		return;
	sample = pd_tree_read_record(c->tree, r, &e);
	set_memory(b, sample);
	set_branches(b, sample);
	set_counts(c, b, f, sample);
	set_registers(b, pd_item_get(sample, "regs_user"), PC_SAMPLES_USER_ABI,
		      PC_SAMPLES_USER_REGS);
	set_registers(b, pd_item_get(sample, "regs_intr"), PC_SAMPLES_INTR_ABI,
		      PC_SAMPLES_INTR_REGS);
	set_stack(b, sample);
}
