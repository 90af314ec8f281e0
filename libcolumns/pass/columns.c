/* columns.c - a pass over a recording: records in, batches of rows out. */
#include "pass/columns_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"

enum {
	MAX_ROWS = 1 << 18, MAX_BYTES = 16 << 20,	/* of a batch */
	MAX_ENTRIES = 1 << 17,		/* bytes, of samples that are numbered together */
	ROWS_A_CHECK = 64,
	ROW_BYTES = 1 << 16,		/* of a large row: a record has no more */
};

/* Returns whether one of two columns of samples is made. */
static bool wants_any(const struct pc_columns *c, unsigned int one, unsigned int other)
{
	const struct pc_array *arrays = c->batches[PC_SAMPLES].arrays;

	return arrays && (arrays[one].is_on || arrays[other].is_on);
}

/* Returns the usual fields that rows are made of, as pd_fields_batch.want: fewer take less time. */
static uint32_t choose_fields(const struct pc_columns *c)
{
	static const struct {
		enum pc_samples_column column;
		uint32_t fields;
	} needs[] = {
		{ PC_SAMPLES_TIME, PD_HAS_TIME },
		{ PC_SAMPLES_CPU, PD_HAS_CPU },
		{ PC_SAMPLES_PID, PD_HAS_PID },
		{ PC_SAMPLES_TID, PD_HAS_TID },
		{ PC_SAMPLES_PERIOD, PD_HAS_PERIOD },
	};
	const struct pc_array *arrays = c->batches[PC_SAMPLES].arrays;
	uint32_t fields = PD_HAS_ID;

	if (!arrays || c->o.tables != 1ull << PC_SAMPLES || c->needs_records || c->numbers_frames ||
	    c->o.namer)
		return UINT32_MAX;
	if (c->wants_tasks)
		fields |= PD_HAS_PID | PD_HAS_TID | PD_HAS_TIME | PD_HAS_CPU;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (arrays[needs[i].column].is_on)
			fields |= needs[i].fields;
	return fields;
}

/* Returns a bit for each column that is always there and can lack a value that does not fit. */
static uint64_t columns_that_count(const struct pc_table *t)
{
	uint64_t found = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].type == PC_INT64 && !t->columns[i].group)
			found |= 1ull << i;
	return found;
}

/* Makes the batches of tables that nobody reads, for the errors of `errors`, which are those of all
 * tables. */
static int init_counts(struct pc_columns *c)
{
	for (size_t i = 0; i < PC_NR_TABLES; i++) {
		const struct pc_table *t = pc_table_at(i);
		const struct pc_selection some = { 0, columns_that_count(t) };

		if (c->batches[i].table || !some.columns || i == PC_FRAMES)
			continue;
		if (pc_batch_init(&c->batches[i], t, some, &c->budget))
			return -1;
		c->batches[i].is_for_counts = true;
	}
	return 0;
}

static int init_batches(struct pc_columns *c)
{
	const uint64_t tables = c->o.tables ? c->o.tables : UINT64_MAX;
	const bool is_one = !(tables & (tables - 1));

	c->selection = (struct pc_selection){
		c->o.with, c->o.columns && is_one ? c->o.columns : UINT64_MAX };
	for (size_t i = 0; i < PC_NR_TABLES; i++)
		if (tables >> i & 1 &&
		    pc_batch_init(&c->batches[i], pc_table_at(i), c->selection, &c->budget))
			return -1;
	if (pc_wants(c, PC_ERRORS) && init_counts(c))
		return -1;
	c->has_trees = pc_wants(c, PC_SAMPLES) && pc_wants_trees(&c->batches[PC_SAMPLES]);
	c->needs_records = pc_needs_records(&c->batches[PC_SAMPLES]);
	c->wants_tasks = wants_any(c, PC_SAMPLES_COMM, PC_SAMPLES_MACHINE_PID);
	c->wants_rest = wants_any(c, PC_SAMPLES_WEIGHT, PC_SAMPLES_CGROUP);
	c->wants_period = wants_any(c, PC_SAMPLES_PERIOD, PC_SAMPLES_PERIOD);
	/* the numbers of frames depend on all stacks before them */
	c->numbers_frames = pc_wants(c, PC_STACKS) || pc_wants(c, PC_FRAMES) ||
			    pc_wants(c, PC_SYMBOLS) ||
			    wants_any(c, PC_SAMPLES_FRAME, PC_SAMPLES_STACK);
	c->checks_raw = c->o.with & PC_GROUP_TRACEPOINTS &&
			!wants_any(c, PC_SAMPLES_FIELDS, PC_SAMPLES_FIELDS) &&
			(pc_wants(c, PC_ERRORS) || pc_wants(c, PC_FILES));
	c->fields = choose_fields(c);
	return 0;
}

/* Limits batches by the memory there is. The rows between two checks, if they are large, are about
 * another batch. */
static void limit_batches(struct pc_columns *c)
{
	c->max_rows = MAX_ROWS;
	c->max_bytes = MAX_BYTES;
	if (c->max_bytes > c->budget.limit / 32)
		c->max_bytes = (size_t)(c->budget.limit / 32);
	c->rows_a_check = c->max_bytes / ROW_BYTES;
	if (c->rows_a_check > ROWS_A_CHECK)
		c->rows_a_check = ROWS_A_CHECK;
	if (c->rows_a_check < 1)
		c->rows_a_check = 1;
}

/* Makes what goes with the places that `recents` keeps. */
static int init_places(struct pc_columns *c)
{
	if (!c->recents.threads)
		return 0;
	c->numbered = pd_budget_alloc_written(&c->budget, PC_NR_PLACES * sizeof(*c->numbered));
	c->sites = pd_budget_alloc_written(&c->budget, PC_NR_SITES * sizeof(*c->sites));
	c->site_frames = pd_budget_alloc_written(&c->budget, PC_NR_SITES * sizeof(*c->site_frames));
	return c->numbered && c->sites && c->site_frames ? 0 : -1;
}

struct pc_columns *pc_new(const struct pc_options *o, struct pd_error *e)
{
	struct pc_options options = { .size = sizeof(options) };
	const char *wrong = pc_options_take(&options, o);
	struct pc_columns *c;

	if (wrong || !options.history) {
		pd_refuse(e, wrong ? wrong : "the tables need a history");
		return NULL;
	}
	if (e)
		*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (e)
		e->code = PD_E_LIMIT;
	c->o = options;
	c->budget.limit = c->o.memory_limit ? c->o.memory_limit : PD_MEMORY_LIMIT;
	c->numbers.budget = c->first_times.budget = c->facts.budget =
		&c->budget;
	c->leaders.budget = c->named.images.budget = &c->budget;
	c->registers.lists.budget = c->registers.names.budget = &c->budget;
	c->json.line.budget = c->json.header.budget = &c->budget;
	c->totals.first = c->totals.last = PD_NO_TIME;
	limit_batches(c);
	pc_recents_init(&c->recents, &c->budget, c->budget.limit / 64);
	c->samples.sites.budget = c->samples.entries.budget = &c->budget;
	c->samples.entries_limit = (size_t)(c->budget.limit / 64);
	if (c->samples.entries_limit > MAX_ENTRIES)
		c->samples.entries_limit = MAX_ENTRIES;
	c->codes.index.budget = c->codes.items.budget = &c->budget;
	pc_chains_init(&c->chains, &c->budget, c->budget.limit / 8);
	if (!init_places(c) && !init_batches(c))
		return c;
	pc_free(c);
	return NULL;
}

/* Frees what only samples need: the rows at the end, and the last batches, may need much. */
static void free_samples(struct pc_columns *c)
{
	pc_chains_free(&c->chains);
	pc_codes_free(&c->codes);
	pc_recents_free(&c->recents);
	pd_buf_free(&c->samples.sites);
	pd_buf_free(&c->samples.entries);
	pd_budget_free(&c->budget, c->numbered, PC_NR_PLACES * sizeof(*c->numbered));
	pd_budget_free(&c->budget, c->sites, PC_NR_SITES * sizeof(*c->sites));
	pd_budget_free(&c->budget, c->site_frames, PC_NR_SITES * sizeof(*c->site_frames));
	c->numbered = NULL;
	c->sites = NULL;
	c->site_frames = NULL;
	pd_buf_free(&c->numbers);
}

void pc_free(struct pc_columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < PC_NR_TABLES; i++)
		pc_batch_free(&c->batches[i]);
	free_samples(c);
	pc_json_free(&c->json);
	pd_tree_free(c->tree);
	pd_buf_free(&c->first_times);
	pd_buf_free(&c->facts);
	pc_registers_free(&c->registers);
	pd_buf_free(&c->leaders);
	pd_buf_free(&c->named.images);
	pd_budget_free(&c->budget, c->stack, c->stack_capacity * sizeof(*c->stack));
	free(c);
}

/* --- errors --- */

/* Returns NULL for a name that is not known. */
static const char *name_or_null(const char *name)
{
	return name && *name ? name : NULL;
}

void pc_add_error(struct pc_columns *c, const struct pd_error *e)
{
	static const char *const severities[] = { "", "note", "damaged", "fatal" };
	struct pc_batch *b;
	char text[512];

	if (!c || !e)
		return;
	b = pc_start_row(c, PC_ERRORS);
	if (e->severity > PD_NOTE) {
		c->totals.errors++;
		c->totals.is_damaged = true;
	}
	if (!b)
		return;
	pc_set_count(b, PC_ERRORS_OFFSET, e->offset);
	pc_set_text(b, PC_ERRORS_CODE, pd_code_name(e->code));
	pc_set_text(b, PC_ERRORS_SEVERITY, severities[e->severity & 3]);
	pc_set_text(b, PC_ERRORS_RECORD, name_or_null(e->record));
	pc_set_text(b, PC_ERRORS_FIELD, name_or_null(e->field));
	pc_set_count(b, PC_ERRORS_WANT, e->want);
	pc_set_count(b, PC_ERRORS_HAVE, e->have);
	pc_set_count(b, PC_ERRORS_SKIPPED, e->skipped);
	pc_set_text(b, PC_ERRORS_MESSAGE, pd_error_text(e, text, sizeof(text)));
	pc_finish_row(c, b);
}

bool pc_error_is_of_payload(const struct pd_error *e)
{
	return e && e->field && strcmp(e->field, "raw.tracepoint") == 0;
}

/* --- steps --- */

/* Adds a record that is no sample. Those of perf itself may change what samples refer to. */
static void add_other(struct pc_columns *c, const struct pd_fields *item)
{
	if (item->type >= PD_RECORD_HEADER_ATTR)
		pc_end_samples(c);
	c->totals.records++;
	if (pc_keeps(c, item))
		pc_add_record(c, item);
}

static bool is_sample_next(const struct pc_columns *c)
{
	return c->item < c->nr_items && c->items[c->item].type == PD_RECORD_SAMPLE;
}

/* Adds the next record, or samples. */
static void add_items(struct pc_columns *c)
{
	if (!is_sample_next(c))
		add_other(c, &c->items[c->item++]);
	while (is_sample_next(c) && !c->refused)
		pc_add_sample(c, &c->items[c->item++]);
}

/* Returns whether records are in a decompressed stream: then their offset is not all of their
 * place. The first one of a stream is at 0. */
static bool are_inner(struct pc_columns *c)
{
	struct pd_moment at = { .inner = 0 };

	if (c->nr_items > 0)
		pd_record_moment(pd_reader_record(c->reader, &c->items[c->nr_items - 1]), &at);
	return at.inner;
}

/* Adds an error for a column, n values of which had no place in it. */
static void add_unfit_values(struct pc_columns *c, const struct pc_table *t, size_t column,
			     uint64_t n)
{
	struct pc_batch *b = pc_start_row(c, PC_ERRORS);

	if (!b)
		return;
	pc_set_text(b, PC_ERRORS_CODE, "OUT_OF_RANGE");
	pc_set_text(b, PC_ERRORS_SEVERITY, "note");
	pc_set_text(b, PC_ERRORS_RECORD, t->name);
	pc_set_text(b, PC_ERRORS_FIELD, t->columns[column].name);
	pc_set_count(b, PC_ERRORS_HAVE, n);
	pc_set_text(b, PC_ERRORS_MESSAGE, "numbers that no int64 can hold are NULL");
	pc_finish_row(c, b);
}

static void add_out_of_range(struct pc_columns *c)
{
	for (size_t i = 0; i < PC_NR_TABLES; i++) {
		const struct pc_batch *b = &c->batches[i];

		for (size_t k = 0; b->table && k < b->table->nr_columns; k++)
			if (b->out_of_range[k])
				add_unfit_values(c, b->table, k, b->out_of_range[k]);
	}
}

static enum pc_step end_pass(struct pc_columns *c)
{
	add_out_of_range(c);
	pc_report_named(c);
	for (size_t i = PC_NR_TABLES; i--;)
		if (c->batches[i].table && c->batches[i].rows)
			pc_flush_batch(c, &c->batches[i]);
	return c->refused ? PC_STEP_FAILED : PC_STEP_END;
}

static enum pc_step add_end_row(struct pc_columns *c)
{
	static bool (*const adders[])(struct pc_columns *, size_t) = {
		pc_add_object, pc_add_map, pc_add_task, pc_add_event, pc_add_feature, pc_add_file,
	};
	static const enum pc_table_number tables[] = {
		PC_OBJECTS, PC_MAPS, PC_TASKS, PC_EVENTS, PC_FEATURES, PC_FILES,
	};

	if (c->ending == sizeof(adders) / sizeof(adders[0]))
		return end_pass(c);
	if (!pc_wants(c, tables[c->ending]) || !adders[c->ending](c, c->end_row++)) {
		c->ending++;
		c->end_row = 0;
	}
	return c->refused ? PC_STEP_FAILED : PC_STEP_MORE;
}

/* Returns how many records may be read at once; 0: enough are read. */
static size_t items_left(const struct pc_columns *c)
{
	const uint64_t left = c->o.records ? c->o.records - c->totals.records : PC_ITEMS;

	return left < PC_ITEMS ? (size_t)left : PC_ITEMS;
}

/* The rows at the end may need much memory. More errors may come. */
static void end_records(struct pc_columns *c)
{
	c->nr_items = 0;
	pc_end_samples(c);
	pc_queue_stop(&c->queue);
	free_samples(c);
	for (size_t i = 0; i < PC_NR_TABLES; i++)
		if (i != PC_ERRORS && c->batches[i].table && c->batches[i].rows)
			pc_flush_batch(c, &c->batches[i]);
}

static enum pc_step read_items(struct pc_columns *c, struct pd_error *e)
{
	struct pd_fields_batch batch = { sizeof(batch), c->items, sizeof(*c->items),
					 items_left(c), c->fields };

	const int n = batch.capacity ? pd_reader_next_fields(c->reader, &batch, e) : 0;

	c->item = 0;
	c->nr_items = n;
	if (c->o.on_read)
		pc_note_refusal(c, c->o.on_read(c->o.ctx, c->reader));
	c->is_inner = are_inner(c);
	if (n <= 0)
		end_records(c);
	return n < 0 ? PC_STEP_FAILED : PC_STEP_MORE;
}

/* Returns whether the history has all that is wanted. */
static bool are_learned(const struct pc_columns *c)
{
	for (unsigned int i = 0; i < PC_NR_TABLES; i++)
		if (pc_wants(c, i) && i != PC_OBJECTS && i != PC_MAPS && i != PC_TASKS)
			return false;
	return true;
}

int pc_begin(struct pc_columns *c, struct pd_reader *r, pc_flush_fn flush, void *ctx,
	     struct pd_error *e)
{
	if (c->reader)
		return pd_refuse(e, "the tables were written before");
	c->reader = r;
	pd_reader_credible_times(r, &c->totals.credible);
	c->flush = flush;
	c->ctx = ctx;
	c->nr_items = c->item = 1;	/* all of one are taken: the next step reads more */
	c->tree = pd_tree_new(PD_TREE_OPTIONS(.memory_limit = c->budget.limit / 4));
	if (pc_wants(c, PC_OBJECTS))
		pc_learn_first_times(c);
	if (c->o.reading == PC_READ_NEEDED && are_learned(c))
		end_records(c);
	if (c->tree)
		return 0;
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	return -1;
}

/* Takes a record, or samples, or makes one row of those at the end. After PC_STEP_FAILED c->refused
 * is not 0, or else reading could not continue, *e says why, and the next step goes on to the
 * end. */
static enum pc_step take_step(struct pc_columns *c, struct pd_error *e)
{
	pc_limit_side(c);
	if (c->item < c->nr_items)
		add_items(c);
	else if (c->nr_items)
		return read_items(c, e);
	else
		return add_end_row(c);
	return c->refused ? PC_STEP_FAILED : PC_STEP_MORE;
}

bool pc_run_step(struct pc_columns *c, struct pd_error *e)
{
	struct pd_error last = { .code = PD_OK };
	const enum pc_step step = take_step(c, &last);

	if (step == PC_STEP_FAILED && !c->refused) {
		c->totals.is_unreadable = !c->totals.records;
		pc_add_error(c, &last);
		*e = last;
	}
	return c->refused || step == PC_STEP_END;
}

int pc_run(struct pc_columns *c, struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_OK };
	while (!pc_run_step(c, e))
		;
	pc_queue_stop(&c->queue);
	if (c->refused == -1)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return c->refused;
}
