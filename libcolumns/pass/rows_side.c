/* rows_side.c - the rows of records that are no samples. */
#include "pass/columns_internal.h"

/* PERF_RECORD_MISC_* and PERF_AUX_FLAG_TRUNCATED of uapi/linux/perf_event.h */
enum { MISC_COMM_EXEC = 1 << 13, MISC_SWITCH_OUT = 1 << 13, MISC_SWITCH_OUT_PREEMPT = 1 << 14,
       AUX_TRUNCATED = 1 };

typedef void (*adder_fn)(struct pc_columns *c, const struct pd_fields *f,
			 const struct pd_record *r);

/* Starts a row with its first columns. */
static struct pc_batch *start_side_row(struct pc_columns *c, enum pc_table_number table,
				       const struct pd_fields *f)
{
	struct pc_batch *b = pc_start_row(c, table);

	if (!b)
		return NULL;
	if (f->has & PD_HAS_TIME)
		pc_set_count(b, PC_SIDE_TIME, f->time);
	if (f->has & PD_HAS_PID)
		pc_set_int(b, PC_SIDE_PID, f->pid);
	if (f->has & PD_HAS_TID)
		pc_set_int(b, PC_SIDE_TID, f->tid);
	if (f->has & PD_HAS_CPU)
		pc_set_int(b, PC_SIDE_CPU, (int32_t)f->cpu);
	return b;
}

static void set_number(struct pc_batch *b, unsigned int column, const struct pd_record *r,
		       const char *name)
{
	uint64_t value;

	if (!pd_record_get_number(r, name, &value))
		return;
	if (b->arrays[column].column->type == PC_INT64)
		pc_set_count(b, column, value);
	else
		pc_set_int(b, column, (int32_t)value);
}

static void set_text(struct pc_batch *b, unsigned int column, const struct pd_record *r,
		     const char *name)
{
	struct pd_bytes text;

	if (pd_record_get_text(r, name, &text))
		pc_set_bytes(b, column, text);
}

static void add_comm(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	struct pc_batch *b = start_side_row(c, PC_COMMS, f);

	if (!b)
		return;
	set_text(b, PC_COMMS_COMM, r, "comm");
	pc_set_int(b, PC_COMMS_EXEC, (f->misc & MISC_COMM_EXEC) != 0);
	pc_finish_row(c, b);
}

static void add_switch(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	struct pc_batch *b = start_side_row(c, PC_SWITCHES, f);

	if (!b)
		return;
	pc_set_int(b, PC_SWITCHES_OUT, (f->misc & MISC_SWITCH_OUT) != 0);
	pc_set_int(b, PC_SWITCHES_PREEMPT, (f->misc & MISC_SWITCH_OUT_PREEMPT) != 0);
	set_number(b, PC_SWITCHES_OTHER_PID, r, "next_prev_pid");
	set_number(b, PC_SWITCHES_OTHER_TID, r, "next_prev_tid");
	pc_finish_row(c, b);
}

static void add_cgroup(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	struct pc_batch *b = start_side_row(c, PC_CGROUPS, f);

	if (!b)
		return;
	set_number(b, PC_CGROUPS_ID, r, "id");
	set_text(b, PC_CGROUPS_PATH, r, "path");
	pc_finish_row(c, b);
}

static void add_namespaces(struct pc_columns *c, const struct pd_fields *f,
			   const struct pd_record *r)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const struct pd_item *root, *entries, *entry = NULL;
	struct pd_error e;
	size_t i = 0;

	if (!pc_wants(c, PC_NAMESPACES))
		return;
	root = pd_tree_read_record(c->tree, r, &e);
	entries = pd_item_get(root, "namespaces");
	while ((entry = pd_item_next(entries, entry))) {
		struct pc_batch *b = start_side_row(c, PC_NAMESPACES, f);
		const struct pd_item *dev = pd_item_get(entry, "dev"),
				     *inode = pd_item_get(entry, "inode");

		if (!b)
			return;
		pc_set_text(b, PC_NAMESPACES_NAME,
			    i < sizeof(names) / sizeof(names[0]) ? names[i] : "");
		if (dev)
			pc_set_count(b, PC_NAMESPACES_DEV, dev->number);
		if (inode)
			pc_set_count(b, PC_NAMESPACES_INODE, inode->number);
		pc_finish_row(c, b);
		i++;
	}
}

static void write_lost(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r,
		       uint64_t count)
{
	struct pc_batch *b = start_side_row(c, PC_LOST, f);

	if (!b)
		return;
	pc_set_text(b, PC_LOST_KIND, pd_record_name(r));
	if (f->attr)
		pc_set_int(b, PC_LOST_EVENT, (int64_t)pd_attr_index(f->attr));
	if (count)
		pc_set_count(b, PC_LOST_COUNT, count);
	pc_finish_row(c, b);
}

static void add_lost(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	uint64_t count = 0;

	pd_record_get_number(r, "lost", &count);
	if (f->type == PD_RECORD_LOST)
		c->totals.lost += count;
	else
		c->totals.lost_samples += count;
	write_lost(c, f, r, count);
}

static void add_throttle(struct pc_columns *c, const struct pd_fields *f,
			 const struct pd_record *r)
{
	c->totals.throttled += f->type == PD_RECORD_THROTTLE;
	write_lost(c, f, r, 0);
}

/* The history knows them: maps and tasks. */
static void add_nothing(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	(void)c;
	(void)f;
	(void)r;
}

static void add_other(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	struct pc_batch *b = pc_start_row(c, PC_RECORDS);

	if (!b)
		return;
	pc_set_count(b, PC_RECORDS_RECORD, c->totals.records - 1);
	pc_set_count(b, PC_RECORDS_OFFSET, f->offset);
	pc_set_text(b, PC_RECORDS_TYPE, pd_record_name(r));
	if (f->has & PD_HAS_TIME)
		pc_set_count(b, PC_RECORDS_TIME, f->time);
	if (f->has & PD_HAS_PID)
		pc_set_int(b, PC_RECORDS_PID, f->pid);
	if (f->has & PD_HAS_TID)
		pc_set_int(b, PC_RECORDS_TID, f->tid);
	if (f->has & PD_HAS_CPU)
		pc_set_int(b, PC_RECORDS_CPU, (int32_t)f->cpu);
	if (f->attr)
		pc_set_int(b, PC_RECORDS_EVENT, (int64_t)pd_attr_index(f->attr));
	if (b->arrays[PC_RECORDS_JSON].is_on)
		pc_set_bytes(b, PC_RECORDS_JSON, pc_json_of_record(c, r));
	pc_finish_row(c, b);
}

static void add_aux(struct pc_columns *c, const struct pd_fields *f, const struct pd_record *r)
{
	uint64_t flags = 0;

	if (pd_record_get_number(r, "flags", &flags) && flags & AUX_TRUNCATED)
		write_lost(c, f, r, 0);
	add_other(c, f, r);
}

void pc_add_record(struct pc_columns *c, const struct pd_fields *f)
{
	static const struct {
		uint32_t type;
		adder_fn add;
	} adders[] = {
		{ PD_RECORD_COMM, add_comm },
		{ PD_RECORD_SWITCH, add_switch },
		{ PD_RECORD_SWITCH_CPU_WIDE, add_switch },
		{ PD_RECORD_CGROUP, add_cgroup },
		{ PD_RECORD_NAMESPACES, add_namespaces },
		{ PD_RECORD_LOST, add_lost },
		{ PD_RECORD_LOST_SAMPLES, add_lost },
		{ PD_RECORD_THROTTLE, add_throttle },
		{ PD_RECORD_UNTHROTTLE, add_throttle },
		{ PD_RECORD_AUX, add_aux },
		{ PD_RECORD_MMAP, add_nothing },
		{ PD_RECORD_MMAP2, add_nothing },
		{ PD_RECORD_KSYMBOL, add_nothing },
		{ PD_RECORD_FORK, add_nothing },
		{ PD_RECORD_EXIT, add_nothing },
	};
	const struct pd_record *r = pd_reader_record(c->reader, f);
	adder_fn add = add_other;

	for (size_t i = 0; i < sizeof(adders) / sizeof(adders[0]); i++)
		if (adders[i].type == f->type)
			add = adders[i].add;
	if (r)
		add(c, f, r);
}
