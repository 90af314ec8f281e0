/* samples_number.c - numbers frames and stacks of samples, and writes the rows of new ones. */
#include "pass/columns_internal.h"

enum { FETCHED = 256 };	/* frames that are fetched at once */

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
	case PC_FRAME_CODE:
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
	if (f->kind == PC_FRAME_CODE)
		pc_set_int(b, PC_FRAMES_OBJECT, pc_code_image(&c->codes, f->object));
	else if (f->object != PD_NO_IMAGE)
		pc_set_int(b, PC_FRAMES_OBJECT, f->object);
	pc_set_int(b, PC_FRAMES_OFFSET, (int64_t)f->offset);
	if (is_code)
		pc_set_int(b, PC_FRAMES_EXACT, f->exact);
	if (f->kind == PC_FRAME_MARKER)
		pc_set_name(b, PC_FRAMES_NAME, pd_marker_name(f->offset));
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

/* Numbers n entries, as far as there is memory. */
static void number_part(struct pc_columns *c, int32_t pid, struct pc_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		entries[i].hash = pc_frame_hash(&c->chains, &entries[i].frame);
		pc_frame_prefetch(&c->chains, entries[i].hash);
	}
	for (size_t i = 0; i < n; i++)
		pc_frame_prefetch_same(&c->chains, entries[i].hash);
	for (size_t i = 0; i < n && !c->refused; i++)
		entries[i].hash = number_frame(c, pid, &entries[i]);
}

/* Numbers the entries without a number. (The process is for names: then a sample is alone.) */
static void number_entries(struct pc_columns *c, const struct pc_samples *s)
{
	struct pc_entry *entries = (struct pc_entry *)(void *)s->entries.data;
	const size_t nr = s->entries.size / sizeof(*entries);
	const int32_t pid = s->has & PD_HAS_PID ? s->pid[0] : -1;

	for (size_t i = 0, n; i < nr && !c->refused; i += n) {
		n = nr - i < FETCHED ? nr - i : FETCHED;
		number_part(c, pid, entries + i, n);
	}
}

/* Sets `numbers` to those of all sites. One of them may have several entries, one after the
 * other. */
static void number_sites(struct pc_columns *c, const struct pc_samples *s)
{
	const struct pc_entry *entry = (const struct pc_entry *)(const void *)s->entries.data;
	const uint16_t *sites = (const uint16_t *)(const void *)s->sites.data;
	const size_t nr = s->sites.size / sizeof(*sites);
	uint32_t *numbers;

	c->numbers.size = 0;
	numbers = (uint32_t *)(void *)pd_buf_reserve(&c->numbers, nr * sizeof(*numbers));
	if (!numbers) {
		c->refused = -1;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		if (sites[i] != PC_NO_SITE) {
			numbers[i] = c->site_frames[sites[i]];
			continue;
		}
		numbers[i] = entry->hash;
		if (entry->site != PC_NO_SITE)
			c->site_frames[entry->site] = entry->hash;
		entry++;
	}
	c->numbers.size = nr * sizeof(*numbers);
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

/* Returns the frames of a sample's stack; the sample's sites begin at `from`. *n: how many. */
static const uint32_t *frames_of(const struct pc_columns *c, const struct pc_addresses *a,
				 size_t from, size_t *n)
{
	const uint32_t *numbers = (const uint32_t *)(const void *)c->numbers.data;

	*n = a->end - from - a->has_ip;
	return numbers + from + a->has_ip;
}

/* Hashes the stacks that are not known, and fetches what they are compared with. */
static void hash_stacks(struct pc_columns *c, struct pc_samples *s)
{
	size_t from = 0, n;

	for (size_t i = 0; i < s->n; i++) {
		struct pc_addresses *a = &s->addresses[i];
		const uint32_t *frames = frames_of(c, a, from, &n);

		from = a->end;
		if (a->is_known)
			continue;
		a->hash = pc_stack_hash(&c->chains, frames, n);
		pc_stack_prefetch(&c->chains, a->hash);
	}
	for (size_t i = 0; i < s->n; i++)
		if (!s->addresses[i].is_known)
			pc_stack_prefetch_same(&c->chains, s->addresses[i].hash);
}

static uint32_t number_stack(struct pc_columns *c, const struct pc_addresses *a, size_t from)
{
	bool is_new;
	size_t n;
	const uint32_t *frames = frames_of(c, a, from, &n),
		       number = pc_stack_number(&c->chains, a->hash, frames, n, &is_new);

	if (number == PC_NONE)
		c->refused = -1;
	else if (is_new)
		write_stack(c, number, frames, n, a->depth);
	return number;
}

void pc_number_samples(struct pc_columns *c, struct pc_samples *s)
{
	const bool has_chains = s->has & PD_HAS_CALLCHAIN;
	size_t from = 0;

	number_entries(c, s);
	if (!c->refused)
		number_sites(c, s);
	if (!c->refused && has_chains)
		hash_stacks(c, s);
	for (size_t i = 0; i < s->n && !c->refused; i++) {
		const struct pc_addresses *a = &s->addresses[i];
		const uint32_t *numbers = (const uint32_t *)(const void *)c->numbers.data;
		struct pc_numbered of = { PC_NONE, PC_NONE };

		if (a->is_known)
			of = c->numbered[a->slot];
		else if (a->has_ip)
			of.frame = numbers[from];
		if (!a->is_known && has_chains)
			of.stack = number_stack(c, a, from);
		if (a->slot != PC_NONE)
			c->numbered[a->slot] = of;
		s->frame[i] = of.frame;
		s->stack[i] = of.stack;
		from = a->end;
	}
}
