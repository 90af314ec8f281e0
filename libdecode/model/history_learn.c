/* history_learn.c - turns side-band records into changes. */
#include <string.h>

#include "base/argument.h"
#include "layout/names_tables.h"
#include "layout/registers.h"
#include "model/history.h"
#include "model/history_guests.h"
#include "model/history_live.h"
#include "model/history_plans.h"

void pd_record_moment(const struct pd_record *r, struct pd_moment *out)
{
	if (!out)
		return;
	*out = (struct pd_moment){ .time = PD_NO_TIME };
	if (!r)
		return;
	if (!pd_record_hot_time(r, &out->time))
		out->time = PD_NO_TIME;
	out->offset = r->frame.offset;
	out->inner = r->frame.inner_offset == PD_OUTER ? 0 : r->frame.inner_offset;
}

/* Sets where the last change is in the decompressed stream. */
static int set_inner(struct pd_history *h, uint64_t offset)
{
	uint64_t *inner;

	if (h->live || (!offset && !h->inner.nr))
		return 0;
	inner = pd_array_add(&h->inner, h->changes.nr - h->inner.nr);
	if (!inner)
		return -1;
	((uint64_t *)h->inner.items)[h->inner.nr - 1] = offset;
	return 0;
}

/* Appends a change, or returns NULL without memory. */
static struct pd_change *add_change(struct pd_history *h, const struct pd_record *r,
				    enum pd_change_kind kind, const struct pd_side_band *s)
{
	struct pd_change *c = pd_array_add(&h->changes, 1);
	struct pd_moment m;

	if (!c)
		return NULL;
	pd_record_moment(r, &m);
	if (set_inner(h, m.inner)) {
		h->changes.nr--;
		return NULL;
	}
	h->has_times |= m.time != PD_NO_TIME;
	c->time = m.time;
	c->offset = m.offset & ((UINT64_C(1) << 48) - 1);
	c->machine = pd_guest_number(pd_history_guest_of(h, r));
	c->kind = kind;
	c->pid = (uint32_t)s->n[PD_SIDE_PID];
	c->tid = (uint32_t)s->n[PD_SIDE_TID];
	return c;
}

static bool read_side(struct pd_history *h, const struct pd_record *r, struct pd_side_band *s)
{
	if (pd_side_band_read(h->plans, r, s))
		return true;
	h->damaged++;
	return false;
}

static int learn_comm(struct pd_history *h, const struct pd_record *r)
{
	const enum pd_change_kind kind =
		r->frame.misc & h->bits.comm_exec ? PD_CHANGE_EXEC : PD_CHANGE_COMM;
	struct pd_side_band s;
	struct pd_change *c;
	int64_t comm;

	if (!read_side(h, r, &s))
		return 0;
	comm = pd_history_add_comm(h, s.text);
	c = comm < 0 ? NULL : add_change(h, r, kind, &s);
	if (!c)
		return -1;
	c->item = (uint32_t)comm;
	return 0;
}

/* FORK and EXIT. Those that the kernel writes have a time of their own. */
static int learn_task(struct pd_history *h, const struct pd_record *r, enum pd_change_kind kind)
{
	struct pd_side_band s;
	struct pd_change *c;

	if (!read_side(h, r, &s))
		return 0;
	c = add_change(h, r, kind, &s);
	if (!c)
		return -1;
	if (kind == PD_CHANGE_FORK && (r->frame.misc & h->bits.fork_exec || !s.n[PD_SIDE_TIME]))
		c->kind = PD_CHANGE_THERE;
	c->ppid = (uint32_t)s.n[PD_SIDE_PPID];
	c->ptid = (uint32_t)s.n[PD_SIDE_PTID];
	return 0;
}

static int learn_fork(struct pd_history *h, const struct pd_record *r)
{
	return learn_task(h, r, PD_CHANGE_FORK);
}

static int learn_exit(struct pd_history *h, const struct pd_record *r)
{
	return learn_task(h, r, PD_CHANGE_EXIT);
}

/* Appends a map with its image, and the change that it is. */
static int add_map(struct pd_history *h, const struct pd_record *r, const struct pd_side_band *s,
		   const struct pd_image_facts *f, const struct pd_learned_map *map)
{
	const int64_t image = map->is & PD_MAP_END ? PD_NO_IMAGE : pd_history_add_image(h, f);
	struct pd_learned_map *m = image < 0 ? NULL : pd_array_add(&h->maps, 1);
	struct pd_change *c = m ? add_change(h, r, PD_CHANGE_MAP, s) : NULL;

	if (!c) {
		h->maps.nr -= m != NULL;
		return -1;
	}
	*m = *map;
	m->image = (uint32_t)image;
	m->space_of = (uint8_t)f->space_of;
	m->machine = f->machine;
	m->cpumode = r->frame.misc & PD_MISC_CPUMODE;
	m->start = s->n[PD_SIDE_ADDR];
	m->len = s->n[PD_SIDE_LEN];
	c->item = h->maps.nr - 1;
	return 0;
}

/* Returns the number after the prefix of "[guest.kernel.kallsyms.PID]", or 0. */
static uint32_t guest_of(struct pd_bytes path)
{
	static const char prefix[] = "[guest.kernel.kallsyms.";
	uint64_t pid = 0;
	size_t i = sizeof(prefix) - 1;

	if (path.size < i || memcmp(path.data, prefix, i) != 0)
		return 0;
	for (; i < path.size && path.data[i] >= '0' && path.data[i] <= '9' && pid < INT32_MAX; i++)
		pid = pid * 10 + (path.data[i] - '0');
	return (uint32_t)pid;
}

/* A known virtual machine has spaces of its own. */
static enum pd_space_of space_of_mode(unsigned int mode, uint8_t machine)
{
	switch (mode) {
	case PD_CPUMODE_KERNEL:
		return PD_SPACE_OF_KERNEL;
	case PD_CPUMODE_GUEST_KERNEL:
		return machine ? PD_SPACE_OF_KERNEL : PD_SPACE_OF_GUEST_KERNEL;
	case PD_CPUMODE_GUEST_USER:
		return machine ? PD_SPACE_OF_PROCESS : PD_SPACE_OF_GUEST_PROCESS;
	default:
		return PD_SPACE_OF_PROCESS;
	}
}

/* Sets the build id or inode of a map, and what depends on it. */
static bool read_map(struct pd_history *h, const struct pd_record *r, struct pd_side_band *s,
		     struct pd_image_facts *f)
{
	if (!read_side(h, r, s))
		return false;
	if (pd_side_has(s, PD_SIDE_BUILD_ID_SIZE) && s->build_id.size) {
		f->build_id = s->build_id;
		if (s->n[PD_SIDE_BUILD_ID_SIZE] < f->build_id.size)
			f->build_id.size = (size_t)s->n[PD_SIDE_BUILD_ID_SIZE];
		if (pd_all_zero(f->build_id))
			f->build_id.size = 0;
	}
	f->has_inode = pd_side_has(s, PD_SIDE_INO) && (s->n[PD_SIDE_INO] || s->n[PD_SIDE_MAJ] ||
						       s->n[PD_SIDE_MIN]);
	if (f->has_inode) {
		f->maj = (uint32_t)s->n[PD_SIDE_MAJ];
		f->min = (uint32_t)s->n[PD_SIDE_MIN];
		f->ino = s->n[PD_SIDE_INO];
		f->ino_generation = s->n[PD_SIDE_INO_GENERATION];
	}
	return true;
}

/* 64-bit kernels have another vdso for 32-bit processes, which they give the same name. */
static bool is_vdso_of_32_bits(const struct pd_history *h, const struct pd_record *r,
			       const struct pd_side_band *s)
{
	const unsigned int stated = pd_arch_word_size(r->session->arch);

	return (stated ? stated : h->word_size) == 8 && !(s->n[PD_SIDE_ADDR] >> 32);
}

static uint32_t flags_of_map(const struct pd_side_band *s)
{
	return pd_side_has(s, PD_SIDE_PROT) ? (uint32_t)s->n[PD_SIDE_FLAGS] : 0;
}

/* Sets the image that is mapped. */
static void set_image(struct pd_history *h, const struct pd_record *r,
		      const struct pd_side_band *s, struct pd_image_facts *f)
{
	f->path = s->text;
	f->machine = pd_guest_number(pd_history_guest_of(h, r));
	f->space_of = space_of_mode(r->frame.misc & PD_MISC_CPUMODE, f->machine);
	f->kind = pd_image_kind_of(s->text, f->space_of);
	if (f->kind == PD_IMAGE_VDSO && is_vdso_of_32_bits(h, r, s))
		f->path = (struct pd_bytes){ (const uint8_t *)PD_VDSO_32, sizeof(PD_VDSO_32) - 1 };
	if (flags_of_map(s) & h->bits.map_hugetlb && f->kind <= PD_IMAGE_DELETED)
		f->kind = PD_IMAGE_ANONYMOUS;
}

/* Sets where the image is mapped, and how. */
static void set_map(const struct pd_history *h, const struct pd_record *r,
		    const struct pd_side_band *s, const struct pd_image_facts *f,
		    struct pd_learned_map *m)
{
	const bool is_kernel = f->space_of == PD_SPACE_OF_KERNEL ||
			       f->space_of == PD_SPACE_OF_GUEST_KERNEL;

	m->pid = f->space_of == PD_SPACE_OF_KERNEL       ? 0 :
		 f->space_of == PD_SPACE_OF_GUEST_KERNEL ? guest_of(s->text) :
							   (uint32_t)s->n[PD_SIDE_PID];
	m->pgoff = s->n[PD_SIDE_PGOFF];
	m->flags = flags_of_map(s);
	if (pd_side_has(s, PD_SIDE_PROT)) {
		m->prot = (uint32_t)s->n[PD_SIDE_PROT];
		m->is |= is_kernel || m->prot & h->bits.prot_exec ? 0 : PD_MAP_DATA;
	}
	m->is |= r->frame.misc & h->bits.mmap_data ? PD_MAP_DATA : 0;
	if (f->kind == PD_IMAGE_ANONYMOUS && !(m->is & PD_MAP_DATA))
		m->is |= PD_MAP_COPY;
	if (is_kernel && !s->n[PD_SIDE_LEN])
		m->is |= PD_MAP_OPEN;
}

static int learn_map(struct pd_history *h, const struct pd_record *r)
{
	struct pd_learned_map m = { .len = 0 };
	struct pd_image_facts f = { .kind = PD_IMAGE_FILE };
	struct pd_side_band s;

	if (!read_map(h, r, &s, &f))
		return 0;
	set_image(h, r, &s, &f);
	set_map(h, r, &s, &f, &m);
	if (f.kind == PD_IMAGE_KERNEL && !s.n[PD_SIDE_ADDR] && !m.pgoff) {
		h->has_hidden_kernel |= !f.machine;
		m.is = 0;
		s.n[PD_SIDE_LEN] = 0;
	}
	return add_map(h, r, &s, &f, &m);
}

static int learn_ksymbol(struct pd_history *h, const struct pd_record *r)
{
	struct pd_learned_map m = { .len = 0 };
	struct pd_image_facts f = { .space_of = PD_SPACE_OF_KSYMBOLS };
	struct pd_side_band s;

	if (!read_side(h, r, &s))
		return 0;
	f.path = s.text;
	f.machine = pd_guest_number(pd_history_guest_of(h, r));
	f.kind = s.n[PD_SIDE_KSYM_TYPE] == h->bits.ksym_bpf ? PD_IMAGE_BPF : PD_IMAGE_KERNEL_CODE;
	if (s.n[PD_SIDE_FLAGS] & h->bits.unregister)
		m.is |= PD_MAP_END;
	s.n[PD_SIDE_PID] = s.n[PD_SIDE_TID] = 0;
	return add_map(h, r, &s, &f, &m);
}

static int learn_bpf_event(struct pd_history *h, const struct pd_record *r)
{
	struct pd_side_band s;

	if (!read_side(h, r, &s) || s.n[PD_SIDE_BPF_TYPE] != h->bits.bpf_load)
		return 0;
	return pd_history_add_program(h, s.build_id, (uint32_t)s.n[PD_SIDE_ID]);
}

/* Chains take at most half of the memory: without them, all that is missing is their addresses.
 * Any number of samples may have the cookie: the outermost addresses of long ones are left out. */
static int learn_deferred(struct pd_history *h, const struct pd_record *r)
{
	struct pd_deferred_chain *chain;
	struct pd_numbers ips;
	uint64_t cookie;
	size_t size;

	if (h->live)	/* its sample was before it */
		return 0;
	if (!pd_record_get_number(r, "cookie", &cookie) || !pd_record_get_numbers(r, "ips", &ips)) {
		h->damaged++;
		return 0;
	}
	if (ips.count > PD_DEFERRED_MOST) {
		ips.count = PD_DEFERRED_MOST;
		h->left_out++;
	}
	size = sizeof(*chain) + ips.count * sizeof(*chain->ips);
	chain = h->budget.used + size < h->budget.limit / 2 ?
		pd_arena_alloc(&h->arena, size) : NULL;
	if (!chain || pd_map_add(&h->deferred, cookie, chain) < 0) {
		h->left_out++;
		return 0;
	}
	chain->count = ips.count;
	for (size_t i = 0; i < ips.count; i++)
		chain->ips[i] = pd_number_at(&ips, i);
	return 0;
}

static int learn_cgroup(struct pd_history *h, const struct pd_record *r)
{
	struct pd_side_band s;

	return read_side(h, r, &s) ? pd_history_add_cgroup(h, s.n[PD_SIDE_ID], s.text) : 0;
}

static int learn_lost(struct pd_history *h, const struct pd_record *r)
{
	struct pd_side_band s;
	struct pd_moment m;

	if (!read_side(h, r, &s))
		return 0;
	pd_record_moment(r, &m);
	if (!h->lost || m.time < h->lost_time)
		h->lost_time = m.time;
	if (!h->lost || m.offset < h->lost_offset)
		h->lost_offset = m.offset;
	h->lost += s.n[PD_SIDE_LOST];
	return 0;
}

static int learn_text_poke(struct pd_history *h, const struct pd_record *r)
{
	(void)r;
	h->text_pokes++;
	return 0;
}

/* The namespaces of a record while it is visited. */
struct ns_reader {
	struct pd_namespaces ns;
	size_t next;
};

static void see_ns_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct ns_reader *n = ctx;

	if (!n->next || n->next > sizeof(n->ns.of) / sizeof(*n->ns.of))
		return;
	if (strcmp(pd_field_name(f), "dev") == 0)
		n->ns.of[n->next - 1].dev = value;
	else
		n->ns.of[n->next - 1].inode = value;
	n->ns.count = n->next;
}

static void enter_ns(void *ctx, const struct pd_field *f)
{
	struct ns_reader *n = ctx;

	n->next += !f && n->next < SIZE_MAX;
}

/* The trailer is an object, too: what follows is not of a namespace. */
static void leave_ns_array(void *ctx, const struct pd_field *f)
{
	struct ns_reader *n = ctx;

	(void)f;
	n->next = SIZE_MAX;
}

static int learn_namespaces(struct pd_history *h, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = see_ns_number,
					     .enter = enter_ns, .leave_array = leave_ns_array };
	struct ns_reader n = { .next = 0 };
	struct pd_side_band s;
	struct pd_change *c;
	int64_t item;

	if (!read_side(h, r, &s))
		return 0;
	pd_record_visit(r, &v, &n);
	item = pd_history_add_namespaces(h, &n.ns);
	c = item < 0 ? NULL : add_change(h, r, PD_CHANGE_NAMESPACES, &s);
	if (!c)
		return -1;
	c->item = (uint32_t)item;
	return 0;
}

/* In a pipe, build ids are records. */
static int learn_build_id(struct pd_history *h, const struct pd_record *r)
{
	struct pd_bytes path, build_id;

	if (!pd_record_get_text(r, "filename", &path) ||
	    !pd_record_get_text(r, "build_id", &build_id))
		return 0;
	return pd_history_add_build_id(h, r->frame.misc, path, build_id);
}

typedef int learn_record(struct pd_history *h, const struct pd_record *r);

static const struct {
	uint32_t type;
	enum pd_history_scope most;	/* of those that learn from the record */
	learn_record *learn;
} side_band[] = {
	{ PD_RECORD_MMAP2, PD_HISTORY_ALL, learn_map },
	{ PD_RECORD_FORK, PD_HISTORY_TASKS, learn_fork },
	{ PD_RECORD_EXIT, PD_HISTORY_TASKS, learn_exit },
	{ PD_RECORD_COMM, PD_HISTORY_TASKS, learn_comm },
	{ PD_RECORD_MMAP, PD_HISTORY_ALL, learn_map },
	{ PD_RECORD_KSYMBOL, PD_HISTORY_ALL, learn_ksymbol },
	{ PD_RECORD_NAMESPACES, PD_HISTORY_TASKS, learn_namespaces },
	{ PD_RECORD_CGROUP, PD_HISTORY_TASKS, learn_cgroup },
	{ PD_RECORD_TEXT_POKE, PD_HISTORY_TASKS, learn_text_poke },
	{ PD_RECORD_LOST, PD_HISTORY_TASKS, learn_lost },
	{ PD_RECORD_HEADER_BUILD_ID, PD_HISTORY_ALL, learn_build_id },
	{ PD_RECORD_BPF_EVENT, PD_HISTORY_ALL, learn_bpf_event },
	{ PD_RECORD_ID_INDEX, PD_HISTORY_TASKS, pd_history_learn_guests },
	{ PD_RECORD_CALLCHAIN_DEFERRED, PD_HISTORY_ALL, learn_deferred },
};

/* Returns how to learn from a record of this type, or NULL: not at all. */
static learn_record *learn_of(const struct pd_history *h, uint32_t type)
{
	for (size_t i = 0; i < sizeof(side_band) / sizeof(*side_band); i++)
		if (side_band[i].type == type && h->scope <= side_band[i].most)
			return side_band[i].learn;
	return NULL;
}

bool pd_history_wants(const struct pd_history *h, uint32_t type)
{
	return learn_of(h, type);
}

/* Returns 0, or -1 when the memory limit is reached, for the first time. */
static int learn(struct pd_history *h, const struct pd_record *r, learn_record *learn_it)
{
	const bool was_limited = h->is_limited;

	if (h->is_sealed || (h->is_limited && !h->live) ||
	    pd_guest_number(pd_history_guest_of(h, r)) == PD_GUEST_LEFT_OUT) {
		h->left_out++;
		return 0;
	}
	if (!learn_it(h, r) && (!h->live || !pd_live_apply(h)))
		return 0;
	h->is_limited = true;
	h->left_out++;
	if (h->live)
		pd_live_drop(h);
	return was_limited ? 0 : -1;
}

int pd_history_add_record(struct pd_history *h, const struct pd_record *r, struct pd_error *e)
{
	learn_record *learn_it;
	uint32_t type;
	int ret = 0;

	if (!h || !r)
		return pd_refuse(e, "no history or no record");
	type = r->frame.state == PD_FRAME_SKIPPED ? 0 : r->frame.type;
	learn_it = learn_of(h, type);
	if (learn_it)
		ret = learn(h, r, learn_it);
	if (h->live && type)
		pd_live_see(h, r);
	if (ret && e)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED,
					.offset = r->frame.offset, .record_type = type,
					.record = pd_record_name(r),
					.text = "the memory limit is too low for the history" };
	return ret;
}
