/* rows_samples.c - the rows of samples, stacks and frames. */
#include "columns_internal.h"

#include "pd/enums.h"

#define FIRST_MARKER ((uint64_t)-4095)	/* larger values are not addresses */

enum { STACK_FIRST = 256, MISC_CPUMODE = 7 };

const char *pc_cpumode_name(unsigned int mode)
{
	static const char *const names[] = { "UNKNOWN", "KERNEL", "USER", "HYPERVISOR",
					     "GUEST_KERNEL", "GUEST_USER" };

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : NULL;
}

static const char *marker_name(uint64_t marker)
{
	static const struct {
		int64_t value;
		const char *name;
	} markers[] = {
		{ PD_CONTEXT_HV, "HV" }, { PD_CONTEXT_KERNEL, "KERNEL" },
		{ PD_CONTEXT_USER, "USER" }, { PD_CONTEXT_USER_DEFERRED, "USER_DEFERRED" },
		{ PD_CONTEXT_GUEST, "GUEST" }, { PD_CONTEXT_GUEST_KERNEL, "GUEST_KERNEL" },
		{ PD_CONTEXT_GUEST_USER, "GUEST_USER" },
	};

	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
		if ((uint64_t)markers[i].value == marker)
			return markers[i].name;
	return NULL;
}

/* The numbers that a sample refers to. PC_NONE: none. */
struct numbers {
	uint32_t frame, stack;
};

/* --- frames --- */

static const char *kind_name(const struct pc_frame *f)
{
	static const char *const modes[] = { "unknown", "kernel", "user", "hypervisor",
					     "guest_kernel", "guest_user" };

	switch ((enum pc_frame_kind)f->kind) {
	case PC_FRAME_UNMAPPED:
		return "unmapped";
	case PC_FRAME_MARKER:
		return "marker";
	case PC_FRAME_COOKIE:
		return "cookie";
	case PC_FRAME_LOCATED:
		break;
	}
	return f->cpumode < sizeof(modes) / sizeof(modes[0]) ? modes[f->cpumode] : modes[0];
}

static void write_frame(struct pc_columns *c, uint32_t number, const struct pc_frame *f)
{
	struct pc_batch *b = pc_start_row(c, PC_FRAMES);
	const bool is_code = f->kind <= PC_FRAME_UNMAPPED;

	if (!b)
		return;
	pc_set_int(b, PC_FRAMES_FRAME, number);
	pc_set_name(b, PC_FRAMES_KIND, kind_name(f));
	if (f->object != PD_NO_IMAGE)
		pc_set_int(b, PC_FRAMES_OBJECT, f->object);
	pc_set_int(b, PC_FRAMES_OFFSET, (int64_t)f->offset);
	if (is_code)
		pc_set_int(b, PC_FRAMES_EXACT, f->exact);
	if (f->kind == PC_FRAME_MARKER)
		pc_set_name(b, PC_FRAMES_NAME, marker_name(f->offset));
	if (f->why != PD_WHY_FOUND)
		pc_set_name(b, PC_FRAMES_WHY, pd_why_name(f->why));
	pc_finish_row(c, b);
}

/* An entry of a chain, before it has a number. */
struct entry {
	struct pc_frame frame;
	const struct pd_location *at;	/* NULL: no address */
	uint32_t hash;
};

/* Returns the number of the frame, which is written if it is new. */
static uint32_t number_frame(struct pc_columns *c, int32_t pid, const struct entry *entry)
{
	bool is_new;
	const uint32_t number = pc_frame_number(&c->chains, entry->hash, &entry->frame, &is_new);

	if (number == PC_NONE) {
		c->refused = -1;
	} else if (is_new) {
		write_frame(c, number, &entry->frame);
		if (entry->at)
			pc_add_symbols(c, number, pid, entry->at);
	}
	return number;
}

/* The kernel's maps state the address of _text as their pgoff. */
static uint64_t offset_in_object(const struct pc_columns *c, const struct pd_location *at)
{
	const struct pd_image *image = pd_history_image(c->o.history, at->image);

	return image && image->kind == PD_IMAGE_KERNEL ? at->addr - at->pgoff : at->file_offset;
}

static struct entry entry_of(struct pc_columns *c, struct pc_frame frame,
			     const struct pd_location *at)
{
	const struct entry entry = { frame, at, pc_frame_hash(&c->chains, &frame) };

	pc_frame_prefetch(&c->chains, entry.hash);
	return entry;
}

static struct entry entry_at(struct pc_columns *c, const struct pd_location *at)
{
	const bool is_found = at->image != PD_NO_IMAGE;

	return entry_of(c, (struct pc_frame){
		.offset = is_found ? offset_in_object(c, at) : at->addr,
		.object = at->image,
		.kind = is_found ? PC_FRAME_LOCATED : PC_FRAME_UNMAPPED,
		.cpumode = at->cpumode, .why = at->why,
		.exact = !(at->flags & PD_LOCATION_RETURN) }, at);
}

static struct entry other_entry(struct pc_columns *c, enum pc_frame_kind kind, uint64_t value)
{
	return entry_of(c, (struct pc_frame){ .offset = value, .object = PD_NO_IMAGE,
					      .kind = (uint8_t)kind }, NULL);
}

/* --- stacks --- */

/* Finds the places of a sample's addresses, with those of its copied stack, if a namer unwinds, or
 * of a call stack in its branches. */
static size_t find_frames(struct pc_columns *c, const struct pd_fields *f)
{
	const struct pd_namer *namer = c->o.namer;
	const char *end;

	if (namer && namer->frames)
		return namer->frames(namer->ctx, pd_reader_record(c->reader, f), c->stack,
				     c->stack_capacity, &end);
	if (pd_attr_has_call_stacks(f->attr))
		return pd_history_frames(c->o.history, pd_reader_record(c->reader, f), c->stack,
					 c->stack_capacity);
	return pd_history_fields_frames(c->o.history, f, c->stack, c->stack_capacity);
}

static size_t locate(struct pc_columns *c, const struct pd_fields *f)
{
	size_t n = find_frames(c, f), more;
	struct pd_location *stack;

	if (n <= c->stack_capacity)
		return n;
	more = n < STACK_FIRST ? STACK_FIRST : n;
	stack = pd_budget_grow(&c->budget, c->stack, c->stack_capacity * sizeof(*stack),
			       more * sizeof(*stack));
	if (!stack) {
		c->refused = -1;
		return 0;
	}
	c->stack = stack;
	c->stack_capacity = more;
	return find_frames(c, f);
}

static int32_t pid_of(const struct pd_fields *f)
{
	return f->has & PD_HAS_PID ? f->pid : -1;
}

static void append_entry(struct pc_columns *c, struct entry entry)
{
	pd_buf_append(&c->entries, &entry, sizeof(entry));
}

/* Collects all entries of a chain; the locations are those of its addresses, and of the user stack
 * for a cookie at its end. Returns how many entries are no markers. */
static size_t collect_chain(struct pc_columns *c, const struct pd_numbers *chain,
			    const struct pd_location *at, size_t n)
{
	size_t used = 0;
	bool is_cookie = false;

	n = at ? n : 0;
	for (size_t i = 0; i < chain->count; i++) {
		const uint64_t entry = pd_number_at(chain, i);

		if (is_cookie)
			append_entry(c, other_entry(c, PC_FRAME_COOKIE, entry));
		else if (entry >= FIRST_MARKER)
			append_entry(c, other_entry(c, PC_FRAME_MARKER, entry));
		else if (used < n)
			append_entry(c, entry_at(c, &at[used++]));
		is_cookie = !is_cookie && entry == (uint64_t)PD_CONTEXT_USER_DEFERRED;
	}
	while (used < n)
		append_entry(c, entry_at(c, &at[used++]));
	return used;
}

/* Sets the numbers of all entries, as far as there is memory. */
static void number_entries(struct pc_columns *c, int32_t pid)
{
	const struct entry *entries = (const struct entry *)(const void *)c->entries.data;
	const size_t n = c->entries.size / sizeof(*entries);
	uint32_t *numbers;

	c->numbers.size = 0;
	numbers = (uint32_t *)(void *)pd_buf_reserve(&c->numbers, n * sizeof(*numbers));
	if (!numbers || c->entries.failed) {
		c->refused = -1;
		return;
	}
	for (size_t i = 0; i < n; i++)
		pc_frame_prefetch_same(&c->chains, entries[i].hash);
	for (size_t i = 0; i < n && !c->refused; i++)
		numbers[i] = number_frame(c, pid, &entries[i]);
	c->numbers.size = n * sizeof(*numbers);
}

static void write_stack(struct pc_columns *c, uint32_t number, const uint32_t *frames, size_t n,
			size_t depth)
{
	struct pc_batch *b = pc_start_row(c, PC_STACKS);

	if (!b)
		return;
	pc_set_int(b, PC_STACKS_STACK, number);
	pc_set_list(b, PC_STACKS_FRAMES);
	for (size_t i = 0; i < n; i++)
		pc_add_item(b, PC_STACKS_FRAMES, frames[i]);
	pc_set_int(b, PC_STACKS_DEPTH, (int64_t)depth);
	pc_finish_row(c, b);
}

static uint32_t number_stack(struct pc_columns *c, const uint32_t *frames, size_t n, size_t depth)
{
	bool is_new;
	const uint32_t number = pc_stack_number(&c->chains, frames, n, &is_new);

	if (number == PC_NONE)
		c->refused = -1;
	else if (is_new)
		write_stack(c, number, frames, n, depth);
	return number;
}

/* --- samples --- */

static void find_task(struct pc_columns *c, const struct pd_record *r, struct pc_thread *t)
{
	if (!t->has_task)
		t->is_named = pd_history_record_task(c->o.history, r, &t->task);
	t->has_task = true;
}

static bool wants_task(const struct pc_batch *samples)
{
	return samples->table && (samples->arrays[PC_SAMPLES_COMM].is_on ||
				  samples->arrays[PC_SAMPLES_MACHINE_PID].is_on);
}

/* t: of the sample, or NULL. */
static void set_task(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		     const struct pd_record *r, struct pc_thread *t)
{
	struct pc_thread own = { 0 };

	t = t ? t : &own;
	if (!wants_task(b) || !(f->has & PD_HAS_TID))
		return;
	find_task(c, r, t);
	if (t->is_named)
		pc_set_name(b, PC_SAMPLES_COMM, t->task.comm);
	if (t->task.machine_pid)
		pc_set_int(b, PC_SAMPLES_MACHINE_PID, t->task.machine_pid);
}

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

static void set_event(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f)
{
	uint64_t wall;

	if (!f->attr)
		return;
	pc_set_int(b, PC_SAMPLES_EVENT, (int64_t)pd_attr_index(f->attr));
	if (b->arrays[PC_SAMPLES_EVENT_NAME].is_on)
		pc_set_text(b, PC_SAMPLES_EVENT_NAME, pd_attr_name(f->attr));
	if (b->arrays[PC_SAMPLES_WALL_NS].is_on && f->has & PD_HAS_TIME &&
	    pd_reader_utc(c->reader, f->attr, f->time, &wall))
		pc_set_count(b, PC_SAMPLES_WALL_NS, wall);
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

static bool wants_rest(const struct pc_batch *samples)
{
	return samples->arrays[PC_SAMPLES_WEIGHT].is_on || samples->arrays[PC_SAMPLES_CGROUP].is_on;
}

static void set_rest(struct pc_columns *c, struct pc_batch *b, const struct pd_fields *f,
		     const struct pd_record *r)
{
	uint64_t value;

	if (!wants_rest(b) || !has_fact(c, f, FACT_REST))
		return;
	set_number(b, PC_SAMPLES_WEIGHT, r, "weight");
	if (pd_record_get_number(r, "weight_struct", &value))
		pc_set_count(b, PC_SAMPLES_WEIGHT, (uint32_t)value);	/* var1_dw */
	if (pd_record_get_number(r, "cgroup", &value))
		pc_set_text(b, PC_SAMPLES_CGROUP, pd_history_cgroup(c->o.history, value));
}

static void write_sample(struct pc_columns *c, const struct pd_fields *f, struct pc_thread *t,
			 struct numbers n)
{
	struct pc_batch *b = pc_start_row(c, PC_SAMPLES);
	const struct pd_record *r;

	if (!b)
		return;
	r = pd_reader_record(c->reader, f);
	if (f->has & PD_HAS_TIME)
		pc_set_count(b, PC_SAMPLES_TIME, f->time);
	if (f->has & PD_HAS_CPU)
		pc_set_int(b, PC_SAMPLES_CPU, (int32_t)f->cpu);
	if (f->has & PD_HAS_PID)
		pc_set_int(b, PC_SAMPLES_PID, f->pid);
	if (f->has & PD_HAS_TID)
		pc_set_int(b, PC_SAMPLES_TID, f->tid);
	set_event(c, b, f);
	set_task(c, b, f, r, t);
	pc_set_name(b, PC_SAMPLES_CPUMODE, pc_cpumode_name(f->misc & MISC_CPUMODE));
	if (n.frame != PC_NONE)
		pc_set_int(b, PC_SAMPLES_FRAME, n.frame);
	if (n.stack != PC_NONE)
		pc_set_int(b, PC_SAMPLES_STACK, n.stack);
	if (f->has & PD_HAS_PERIOD)
		pc_set_count(b, PC_SAMPLES_PERIOD, f->period);
	set_addresses(b, f, r);
	set_rest(c, b, f, r);
	pc_set_groups(c, b, f, r);
	pc_set_count(b, PC_SAMPLES_OFFSET, f->offset);
	pc_finish_row(c, b);
}

static void note_time(struct pc_totals *t, const struct pd_fields *f)
{
	if (!(f->has & PD_HAS_TIME))
		return;
	if (t->first == PD_NO_TIME || f->time < t->first)
		t->first = f->time;
	if (t->last == PD_NO_TIME || f->time > t->last)
		t->last = f->time;
}

/* The numbers of frames depend on all stacks before them. */
static bool numbers_frames(const struct pc_columns *c)
{
	const struct pc_array *samples = c->batches[PC_SAMPLES].arrays;

	return pc_wants(c, PC_STACKS) || pc_wants(c, PC_FRAMES) || pc_wants(c, PC_SYMBOLS) ||
	       (samples && (samples[PC_SAMPLES_FRAME].is_on || samples[PC_SAMPLES_STACK].is_on));
}

/* An unwound stack begins with the instruction pointer, which then does not stand before it. */
static bool is_at_ip(const struct pd_fields *f, const struct pd_location *first)
{
	return first->of == PD_LOCATION_OF_IP ||
	       (first->of == PD_LOCATION_OF_STACK && f->has & PD_HAS_IP && first->addr == f->ip);
}

static struct numbers number_addresses(struct pc_columns *c, const struct pd_fields *f)
{
	const size_t n = locate(c, f);
	const bool has_ip = n && is_at_ip(f, &c->stack[0]);
	const size_t ip = has_ip && c->stack[0].of == PD_LOCATION_OF_IP;
	struct numbers of = { PC_NONE, PC_NONE };
	const uint32_t *numbers;
	size_t depth = 0;

	c->entries.size = 0;
	if (has_ip)
		append_entry(c, entry_at(c, &c->stack[0]));
	if (f->has & PD_HAS_CALLCHAIN)
		depth = collect_chain(c, &f->callchain, n ? c->stack + ip : NULL, n - ip);
	number_entries(c, pid_of(f));
	numbers = (const uint32_t *)(const void *)c->numbers.data;
	if (!c->refused && has_ip)
		of.frame = numbers[0];
	if (!c->refused && f->has & PD_HAS_CALLCHAIN)
		of.stack = number_stack(c, numbers + has_ip,
					c->numbers.size / sizeof(*numbers) - has_ip, depth);
	return of;
}

/* t: of the sample, or NULL. */
static struct numbers number_sample(struct pc_columns *c, const struct pd_fields *f,
				    const struct pc_thread *t)
{
	const struct pc_place *p = t ? pc_recents_find(&c->recents, t, f) : NULL;
	struct numbers n;

	if (p)
		return (struct numbers){ p->frame, p->stack };
	n = number_addresses(c, f);
	if (t && !c->refused)
		pc_recents_keep(&c->recents, t, f, n.frame, n.stack);
	return n;
}

/* Returns what is kept of the sample's thread, or NULL. A copied stack and a call stack in branches
 * are others in each sample. */
static struct pc_thread *find_thread(struct pc_columns *c, const struct pd_fields *f)
{
	struct pd_moment at;

	if ((c->o.namer && c->o.namer->frames) || pd_attr_has_call_stacks(f->attr))
		return NULL;
	pd_record_moment(pd_reader_record(c->reader, f), &at);
	return pc_recents_thread(&c->recents, c->o.history, f, &at);
}

void pc_add_sample(struct pc_columns *c, const struct pd_fields *f)
{
	const bool is_numbered = numbers_frames(c);
	struct pc_thread *t = is_numbered || wants_task(&c->batches[PC_SAMPLES]) ?
		find_thread(c, f) : NULL;

	c->totals.samples++;
	note_time(&c->totals, f);
	if (pc_wants(c, PC_EVENTS) && f->attr && has_fact(c, f, FACT_REGISTERS))
		pc_registers_learn(&c->registers, pd_attr_index(f->attr),
				   pd_reader_record(c->reader, f));
	write_sample(c, f, t, is_numbered ? number_sample(c, f, t) :
					    (struct numbers){ PC_NONE, PC_NONE });
}
