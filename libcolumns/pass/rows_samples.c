/* rows_samples.c - the rows of samples. */
#include "pass/columns_internal.h"

#include "pd/enums.h"

/* --- columns that need the record --- */

static void set_number(struct pc_batch *b, unsigned int column, const struct pd_record *r,
		       const char *name)
{
	uint64_t value;

	if (!b->arrays[column].is_on || !pd_record_get_number(r, name, &value))
		return;
	if (b->arrays[column].column->type == PC_UINT64)
		pc_set_int(b, column, (int64_t)value);
	else
		pc_set_count(b, column, value);
}

static void set_addresses(struct pc_batch *b, const struct pd_fields *f, const struct pd_record *r)
{
	if (f->has & PD_HAS_ADDR)
		pc_set_int(b, PC_SAMPLES_ADDR, (int64_t)f->addr);
	set_number(b, PC_SAMPLES_PHYS_ADDR, r, "phys_addr");
	set_number(b, PC_SAMPLES_DATA_PAGE_SIZE, r, "data_page_size");
	set_number(b, PC_SAMPLES_CODE_PAGE_SIZE, r, "code_page_size");
	if (f->has & PD_HAS_IP)
		pc_set_int(b, PC_SAMPLES_IP, (int64_t)f->ip);
	if (!b->arrays[PC_SAMPLES_CALLCHAIN].is_on || !(f->has & PD_HAS_CALLCHAIN))
		return;
	pc_set_list(b, PC_SAMPLES_CALLCHAIN);
	for (size_t i = 0; i < f->callchain.count; i++)
		pc_add_item(b, PC_SAMPLES_CALLCHAIN, pd_number_at(&f->callchain, i));
}

/* Facts about the samples of an event. */
enum pc_fact {
	FACT_KNOWN = 1,
	FACT_REST = 2,		/* they have fields that set_rest() looks up by name */
	FACT_REGISTERS = 4,
};

static uint8_t learn_facts(struct pc_columns *c, const struct pd_attr *a)
{
	const uint64_t rest = PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT | PD_SAMPLE_CGROUP,
		       registers = PD_SAMPLE_REGS_USER | PD_SAMPLE_REGS_INTR;
	struct pd_error e;
	const struct pd_item *root = pd_tree_read_attr(c->tree, c->reader, a, &e),
			     *type = pd_item_get(root, "attr.sample_type.raw");
	const uint64_t bits = type ? type->number : UINT64_MAX;

	return (uint8_t)(FACT_KNOWN | (bits & rest ? FACT_REST : 0) |
			 (bits & registers ? FACT_REGISTERS : 0));
}

static bool has_fact(struct pc_columns *c, const struct pd_fields *f, enum pc_fact fact)
{
	const size_t i = f->attr ? pd_attr_index(f->attr) : 0;
	const uint8_t unknown = 0;

	while (f->attr && c->facts.size <= i && !c->facts.failed)
		pd_buf_append(&c->facts, &unknown, 1);
	if (!f->attr || c->facts.failed)
		return true;
	if (!c->facts.data[i])
		c->facts.data[i] = learn_facts(c, f->attr);
	return c->facts.data[i] & fact;
}

static void set_rest(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		     const struct pd_record *r)
{
	uint64_t value;

	if (!c->wants_rest || !has_fact(c, f, FACT_REST))
		return;
	set_number(b, PC_SAMPLES_WEIGHT, r, "weight");
	if (pd_record_get_number(r, "weight_struct", &value))
		pc_set_count(b, PC_SAMPLES_WEIGHT, (uint32_t)value);	/* var1_dw */
	if (pd_record_get_number(r, "cgroup", &value))
		pc_set_text(b, PC_SAMPLES_CGROUP, pd_history_cgroup(c->o.history, value));
}

static void set_wall_time(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f)
{
	uint64_t wall;

	if (b->arrays[PC_SAMPLES_WALL_NS].is_on && f->attr && f->has & PD_HAS_TIME &&
	    pd_reader_utc(c->reader, f->attr, f->time, &wall))
		pc_set_count(b, PC_SAMPLES_WALL_NS, wall);
}

static void set_from_record(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f)
{
	const struct pd_record *r = pd_reader_record(c->reader, f);

	set_wall_time(c, b, f);
	set_addresses(b, f, r);
	set_rest(c, b, f, r);
	pc_set_groups(c, b, f, r);
}

/* Returns whether a column needs the record of such a sample, or its locations. */
static bool is_alone(struct pc_columns *c, const struct pd_fields *f)
{
	return c->needs_records || c->o.namer || (c->wants_rest && has_fact(c, f, FACT_REST));
}

bool pc_needs_records(const struct pc_batch *samples)
{
	for (unsigned int i = 0; samples->table && i < samples->table->nr_columns; i++)
		if (samples->arrays[i].is_on && samples->table->columns[i].group &&
		    i != PC_SAMPLES_OFFSET)
			return true;
	return false;
}

/* --- rows --- */

/* Appends the rows of n samples. */
static void append_samples(struct pc_columns *c, struct pc_batch *b, const struct pc_samples *s,
			   size_t from, size_t n)
{
	const uint32_t has = s->has;

	pc_append_name_rows(b, PC_FILE_ID, c->o.file_id, n);
	if (has & PD_HAS_TIME)
		pc_append_counts(b, PC_SAMPLES_TIME, s->time + from, n);
	if (has & PD_HAS_CPU)
		pc_append_rows(b, PC_SAMPLES_CPU, s->cpu + from, n);
	if (has & PD_HAS_PID)
		pc_append_rows(b, PC_SAMPLES_PID, s->pid + from, n);
	if (has & PD_HAS_TID)
		pc_append_rows(b, PC_SAMPLES_TID, s->tid + from, n);
	pc_append_numbers(b, PC_SAMPLES_EVENT, s->event + from, n);
	pc_append_names(b, PC_SAMPLES_EVENT_NAME, s->event_name + from, n);
	pc_append_names(b, PC_SAMPLES_COMM, s->comm + from, n);
	pc_append_numbers(b, PC_SAMPLES_MACHINE_PID, s->machine_pid + from, n);
	pc_append_names(b, PC_SAMPLES_CPUMODE, s->cpumode + from, n);
	if (c->numbers_frames) {
		pc_append_numbers(b, PC_SAMPLES_FRAME, s->frame + from, n);
		pc_append_numbers(b, PC_SAMPLES_STACK, s->stack + from, n);
	}
	if (has & PD_HAS_PERIOD)
		pc_append_counts(b, PC_SAMPLES_PERIOD, s->period + from, n);
	pc_append_counts(b, PC_SAMPLES_OFFSET, s->offset + from, n);
}

static void write_samples(struct pc_columns *c, const struct pc_samples *s)
{
	size_t n;

	for (size_t i = 0; i < s->n; i += n) {
		struct pc_batch *b = pc_start_rows(c, PC_SAMPLES, s->n - i, &n);

		if (!b)
			return;
		append_samples(c, b, s, i, n);
		if (s->is_alone)
			set_from_record(c, b, s->last);
		pc_finish_rows(c, b, n);
	}
}

static void note_time(struct pc_totals *t, const struct pd_fields *f)
{
	if (!(f->has & PD_HAS_TIME) || f->time < t->credible.from || f->time > t->credible.to)
		return;
	if (t->first == PD_NO_TIME || f->time < t->first)
		t->first = f->time;
	if (t->last == PD_NO_TIME || f->time > t->last)
		t->last = f->time;
}

static void note_sample(struct pc_columns *c, const struct pd_fields *f)
{
	c->totals.samples++;
	note_time(&c->totals, f);
	if (pc_wants(c, PC_EVENTS) && f->attr && has_fact(c, f, FACT_REGISTERS))
		pc_registers_learn(&c->registers, pd_attr_index(f->attr),
				   pd_reader_record(c->reader, f));
}

/* Returns whether a sample can be added to those before it. */
static bool can_join_samples(struct pc_columns *c, const struct pc_samples *s,
			     const struct pd_fields *f)
{
	return !s->is_alone && s->n < PC_MOST_SAMPLES && f->has == s->has &&
	       s->sites.size + s->entries.size < s->entries_limit &&
	       (f->attr == s->attr || !is_alone(c, f));
}

static void make_rows(void *ctx, struct pc_samples *s)
{
	struct pc_columns *c = ctx;

	if (c->numbers_frames)
		pc_number_samples(c, s);
	write_samples(c, s);
}

void pc_end_samples(struct pc_columns *c)
{
	struct pc_samples *s = c->open;

	c->open = NULL;
	if (!s)
		return;
	if (c->queue.slots && !s->is_alone) {
		pc_queue_put(&c->queue);
		return;
	}
	if (c->queue.slots)
		pc_queue_wait(&c->queue);
	make_rows(c, s);
}

static void begin_samples(struct pc_columns *c, const struct pd_fields *f)
{
	struct pc_samples *s = c->queue.slots ? pc_queue_next(&c->queue) : &c->samples;

	s->n = s->sites.size = s->entries.size = 0;
	s->is_alone = is_alone(c, f);
	c->open = s;
}

/* A sample that does not state its period has that of its event, if it is fixed, as perf does. */
static void complete_period(struct pc_columns *c, struct pd_fields *f)
{
	if (f->has & PD_HAS_PERIOD || !c->wants_period || !f->attr)
		return;
	f->period = pd_attr_fixed_period(f->attr);
	if (f->period)
		f->has |= PD_HAS_PERIOD;
}

void pc_add_sample(struct pc_columns *c, struct pd_fields *f)
{
	c->totals.records++;
	if (!pc_keeps(c, f))
		return;
	complete_period(c, f);
	if (c->checks_raw && f->has & PD_HAS_RAW)
		pd_reader_check_raw(c->reader, f);
	if (c->open && !can_join_samples(c, c->open, f))
		pc_end_samples(c);
	if (!c->open)
		begin_samples(c, f);
	note_sample(c, f);
	pc_find_sample(c, c->open, f);
	if (c->open->is_alone)
		pc_end_samples(c);
}

void pc_queue_samples(struct pc_columns *c)
{
	if (!c->needs_records && !c->o.namer)
		pc_queue_start(&c->queue, &c->budget, c->samples.entries_limit, make_rows, c);
}
