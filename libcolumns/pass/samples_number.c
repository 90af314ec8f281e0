/* samples_number.c - numbers frames and stacks of samples, and writes the rows of new ones. */
#include "pass/columns_internal.h"

#include "pd/enums.h"

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

/* Returns the number of the frame, which is written if it is new. */
static uint32_t number_frame(struct pc_columns *c, int32_t pid, const struct pc_entry *entry)
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

/* Sets the numbers of n entries, as far as there is memory. */
static void number_entries(struct pc_columns *c, int32_t pid, struct pc_entry *entries, size_t n)
{
	uint32_t *numbers;

	c->numbers.size = 0;
	numbers = (uint32_t *)(void *)pd_buf_reserve(&c->numbers, n * sizeof(*numbers));
	if (!numbers) {
		c->refused = -1;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].hash = pc_frame_hash(&c->chains, &entries[i].frame);
		pc_frame_prefetch(&c->chains, entries[i].hash);
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

/* Numbers the addresses of the i-th sample, which are n entries. */
static struct pc_numbered number_addresses(struct pc_columns *c, const struct pc_samples *s,
					   size_t i, struct pc_entry *entries, size_t n)
{
	const struct pc_addresses *a = &s->addresses[i];
	const int32_t pid = s->has & PD_HAS_PID ? s->pid[i] : -1;
	struct pc_numbered of = { PC_NONE, PC_NONE };
	const uint32_t *numbers;

	number_entries(c, pid, entries, n);
	numbers = (const uint32_t *)(const void *)c->numbers.data;
	if (!c->refused && a->has_ip)
		of.frame = numbers[0];
	if (!c->refused && s->has & PD_HAS_CALLCHAIN)
		of.stack = number_stack(c, numbers + a->has_ip, n - a->has_ip, a->depth);
	return of;
}

void pc_number_samples(struct pc_columns *c, struct pc_samples *s)
{
	struct pc_entry *entries = (struct pc_entry *)(void *)s->entries.data;
	size_t from = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct pc_addresses *a = &s->addresses[i];
		struct pc_numbered of;

		if (a->is_known)
			of = c->numbered[a->slot];
		else
			of = number_addresses(c, s, i, entries + from, a->end - from);
		if (a->slot != PC_NONE)
			c->numbered[a->slot] = of;
		s->frame[i] = of.frame;
		s->stack[i] = of.stack;
		from = a->end;
	}
}
