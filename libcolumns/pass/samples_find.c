/* samples_find.c - finds the threads of samples, and the places of their addresses. */
#include "pass/columns_internal.h"

#include <string.h>

#include "pd/enums.h"

#define FIRST_MARKER ((uint64_t)-4095)	/* larger values are not addresses */

enum { STACK_FIRST = 256 };

/* --- chains --- */

/* The kernel's maps state the address of _text as their pgoff. */
static uint64_t offset_in_object(const struct pc_columns *c, const struct pd_location *at)
{
	const struct pd_image *image = pd_history_image(c->o.history, at->image);

	return image && image->kind == PD_IMAGE_KERNEL ? at->addr - at->pgoff : at->file_offset;
}

static struct pc_entry entry_at(const struct pc_columns *c, const struct pd_location *at)
{
	const bool is_found = at->image != PD_NO_IMAGE;

	return (struct pc_entry){ .at = at, .site = PC_NO_SITE, .frame = {
		.offset = is_found ? offset_in_object(c, at) : at->addr,
		.object = at->image,
		.kind = is_found ? PC_FRAME_LOCATED : PC_FRAME_UNMAPPED,
		.cpumode = at->cpumode, .why = at->why,
		.exact = !(at->flags & PD_LOCATION_RETURN) } };
}

/* Asks the namer where the code of JIT compilers is another one than elsewhere. */
static void set_code(struct pc_columns *c, const struct pd_fields *f, const struct pd_location *at,
		     struct pc_frame *out)
{
	const struct pd_namer *namer = c->o.namer;
	const struct pd_image *image = namer ? pd_history_image(c->o.history, at->image) : NULL;
	struct pc_code code = { .image = at->image, .pid = f->has & PD_HAS_PID ? f->pid : -1 };

	if (!image || !pd_image_kind_is_own_code(image->kind))
		return;
	if (namer->since)
		code.since = namer->since(namer->ctx, code.pid, at);
	out->kind = PC_FRAME_CODE;
	out->object = pc_code_number(&c->codes, &code);
	if (out->object == PC_NONE)
		c->refused = -1;
}

static struct pc_entry other_entry(enum pc_frame_kind kind, uint64_t value)
{
	return (struct pc_entry){ .site = PC_NO_SITE, .frame = {
		.offset = value, .object = PD_NO_IMAGE, .kind = (uint8_t)kind } };
}

/* The sample whose addresses are looked up. */
struct lookup {
	struct pc_columns *c;
	const struct pd_fields *f;
	const struct pc_thread *sited;	/* its thread, if addresses are kept, or NULL */
};

/* Where the entries of a sample are put: there is room for all of them. */
struct entries {
	uint16_t *sites;	/* the next one of pc_samples.sites */
	struct pc_entry *next;	/* of pc_samples.entries */
};

static void put_entry(struct entries *to, struct pc_entry entry)
{
	*to->sites++ = PC_NO_SITE;
	*to->next++ = entry;
}

/* Puts the entry of an address of the sample. If addresses are kept, it is only listed yet. */
static void put_address(const struct lookup *l, struct pd_location *at, struct entries *to)
{
	const struct pc_thread *t = l->sited;
	const uint64_t key = t ? pd_location_key(at, t->process, t->kernel) : 0;
	struct pc_site *site = key ? pc_sites_at(l->c->sites, key, at->addr) : NULL;
	const uint16_t number = site ? (uint16_t)(site - l->c->sites) : PC_NO_SITE;
	struct pc_entry entry;

	if (site && site->key == key && site->addr == at->addr) {
		*to->sites++ = number;
		return;
	}
	if (t)
		pd_history_locate_address(l->c->o.history, l->f, t->state, at);
	entry = entry_at(l->c, at);
	set_code(l->c, l->f, at, &entry.frame);
	entry.site = number;
	if (site)
		*site = (struct pc_site){ key, at->addr };
	put_entry(to, entry);
}

/* Finds the places of a sample's addresses, with those of its copied stack, if a namer unwinds, or
 * of a call stack in its branches; or lists the addresses. */
static size_t find_frames(const struct lookup *l)
{
	struct pc_columns *c = l->c;
	const struct pd_fields *f = l->f;
	const struct pd_namer *namer = c->o.namer;
	const char *end;

	if (l->sited)
		return pd_history_fields_addresses(c->o.history, f, c->stack, c->stack_capacity);
	if (namer && namer->frames)
		return namer->frames(namer->ctx, pd_reader_record(c->reader, f), c->stack,
				     c->stack_capacity, &end);
	if (pd_attr_has_call_stacks(f->attr))
		return pd_history_frames(c->o.history, pd_reader_record(c->reader, f), c->stack,
					 c->stack_capacity);
	return pd_history_fields_frames(c->o.history, f, c->stack, c->stack_capacity);
}

static size_t find_addresses(const struct lookup *l)
{
	struct pc_columns *c = l->c;
	size_t n = find_frames(l), more;
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
	return find_frames(l);
}

/* Puts all entries of a chain; the locations are those of its addresses, and of the user stack for
 * a cookie at its end. Returns how many are no markers. */
static uint32_t put_chain(const struct lookup *l, const struct pd_numbers *chain,
			  struct pd_location *at, size_t n, struct entries *to)
{
	size_t used = 0;
	bool is_cookie = false;

	for (size_t i = 0; i < chain->count; i++) {
		const uint64_t entry = pd_number_at(chain, i);

		if (is_cookie)
			put_entry(to, other_entry(PC_FRAME_COOKIE, entry));
		else if (entry >= FIRST_MARKER)
			put_entry(to, other_entry(PC_FRAME_MARKER, entry));
		else if (used < n)
			put_address(l, &at[used++], to);
		is_cookie = !is_cookie && entry == (uint64_t)PD_CONTEXT_USER_DEFERRED;
	}
	while (used < n)
		put_address(l, &at[used++], to);
	return (uint32_t)used;
}

/* An unwound stack begins with the instruction pointer, which then does not stand before it. */
static bool is_at_ip(const struct pd_fields *f, const struct pd_location *first)
{
	return first->of == PD_LOCATION_OF_IP ||
	       (first->of == PD_LOCATION_OF_STACK && f->has & PD_HAS_IP && first->addr == f->ip);
}

static bool is_in_guest(const struct pd_location *at, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= at[i].cpumode >= PD_CPUMODE_GUEST_KERNEL;
	return any;
}

static void find_entries(const struct lookup *l, struct pc_samples *s, struct pc_addresses *a)
{
	static const struct pd_numbers none = { .width = sizeof(uint64_t) };
	struct pc_columns *c = l->c;
	const bool has_chain = l->f->has & PD_HAS_CALLCHAIN;
	const struct pd_numbers *chain = has_chain ? &l->f->callchain : &none;
	const size_t n = find_addresses(l), ip = n && c->stack[0].of == PD_LOCATION_OF_IP;
	struct pd_location *below = ip ? c->stack + 1 : c->stack;	/* NULL: no stack yet */
	const size_t most = chain->count + n + 1;
	struct entries to;

	a->has_ip = n && is_at_ip(l->f, &c->stack[0]);
	a->is_in_guest = is_in_guest(c->stack, n);
	to.sites = (uint16_t *)(void *)pd_buf_reserve(&s->sites, most * sizeof(*to.sites));
	to.next = (struct pc_entry *)(void *)pd_buf_reserve(&s->entries, most * sizeof(*to.next));
	if (!to.sites || !to.next) {
		c->refused = -1;
		return;
	}
	if (a->has_ip)
		put_address(l, &c->stack[0], &to);
	if (has_chain)
		a->depth = put_chain(l, chain, below, n - ip, &to);
	s->sites.size = (size_t)((uint8_t *)to.sites - s->sites.data);
	s->entries.size = (size_t)((uint8_t *)to.next - s->entries.data);
}

/* --- threads --- */

static struct pd_moment moment_of(struct pc_columns *c, const struct pd_fields *f)
{
	struct pd_moment at = { f->has & PD_HAS_TIME ? f->time : PD_NO_TIME, f->offset, 0 };

	if (c->is_inner)
		pd_record_moment(pd_reader_record(c->reader, f), &at);
	return at;
}

/* Returns what is kept of the sample's thread, or NULL. A copied stack and a call stack in branches
 * are others in each sample. */
static struct pc_thread *find_thread(struct pc_columns *c, const struct pd_fields *f)
{
	struct pd_moment at;

	if ((c->o.namer && c->o.namer->frames) || pd_attr_has_call_stacks(f->attr))
		return NULL;
	at = moment_of(c, f);
	return pc_recents_thread(&c->recents, c->o.history, f, &at);
}

/* t: of the sample, or NULL. */
static void find_task(struct pc_columns *c, struct pc_samples *s, const struct pd_fields *f,
		      struct pc_thread *t)
{
	struct pc_thread own;
	const size_t i = s->n;

	s->comm[i] = NULL;
	s->machine_pid[i] = PC_NONE;
	if (!c->wants_tasks || !(f->has & PD_HAS_TID))
		return;
	if (!t) {
		own.has_task = false;	/* all of it set to 0 would take longer than the rest */
		t = &own;
	}
	if (!t->has_task)
		t->is_named = pd_history_record_task(c->o.history,
						     pd_reader_record(c->reader, f), &t->task);
	t->has_task = true;
	if (t->is_named)
		s->comm[i] = t->task.comm;
	if (t->task.machine_pid)
		s->machine_pid[i] = (uint32_t)t->task.machine_pid;
}

/* Returns whether to keep addresses. A namer looks at their locations. */
static bool keeps_sites(const struct pc_columns *c, const struct pc_thread *t)
{
	return t && pc_is_mapped(t) && !c->o.namer;
}

/* t: of the sample, or NULL. */
static void set_addresses(struct pc_columns *c, struct pc_samples *s, const struct pd_fields *f,
			   struct pc_thread *t)
{
	struct pc_addresses *a = &s->addresses[s->n];

	if (t)
		pc_recents_map(&c->recents, c->o.history, t, f);
	*a = (struct pc_addresses){ .slot = t ? pc_recents_find(&c->recents, t, f) : PC_NONE };
	a->is_known = a->slot != PC_NONE;
	if (!a->is_known)
		find_entries(&(struct lookup){ c, f, keeps_sites(c, t) ? t : NULL }, s, a);
	if (!a->is_known && t && !c->refused && !(pc_is_mapped(t) && a->is_in_guest))
		a->slot = pc_recents_keep(&c->recents, t, f);
	a->end = (uint32_t)(s->sites.size / sizeof(uint16_t));
}

/* --- samples --- */

static void set_event(struct pc_samples *s, const struct pd_fields *f)
{
	const size_t i = s->n;

	if (i && f->attr == s->attr) {
		s->event[i] = s->event[i - 1];
		s->event_name[i] = s->event_name[i - 1];
		return;
	}
	s->event[i] = f->attr ? (uint32_t)pd_attr_index(f->attr) : PC_NONE;
	s->event_name[i] = f->attr ? pd_attr_name(f->attr) : NULL;
}

static void set_fields(struct pc_samples *s, const struct pd_fields *f)
{
	const size_t i = s->n;

	s->time[i] = f->has & PD_HAS_TIME ? f->time : 0;
	s->period[i] = f->has & PD_HAS_PERIOD ? f->period : 0;
	s->cpu[i] = f->has & PD_HAS_CPU ? f->cpu : 0;
	s->pid[i] = f->has & PD_HAS_PID ? f->pid : 0;
	s->tid[i] = f->has & PD_HAS_TID ? f->tid : 0;
	s->offset[i] = f->offset;
	s->cpumode[i] = pd_cpumode_name(f->misc & PD_MISC_CPUMODE);
}

void pc_find_sample(struct pc_columns *c, struct pc_samples *s, const struct pd_fields *f)
{
	struct pc_thread *t = c->numbers_frames || c->wants_tasks ? find_thread(c, f) : NULL;

	set_event(s, f);
	set_fields(s, f);
	find_task(c, s, f, t);
	if (c->numbers_frames)
		set_addresses(c, s, f, t);
	s->has = f->has;
	s->attr = f->attr;
	s->last = f;
	s->n++;
}
