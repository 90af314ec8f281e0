/* history_frames.c - finds what is mapped at an address at a moment, and at those of a sample. */
#include <string.h>

#include "model/history_branches.h"
#include "model/history_guests.h"
#include "model/history_live.h"
#include "model/history_stitch.h"

#define PREFETCHED 16	/* maps of a small space */
#define MAX_COPIES 8	/* anonymous maps over each other, to find the file below */

static bool found(const struct pd_learned_map *m, uint32_t map, uint8_t flags,
		  struct pd_location *out)
{
	out->image = m->image;
	out->map = map;
	out->start = m->start;
	out->len = m->len;
	out->pgoff = m->pgoff;
	out->prot = m->prot;
	out->map_flags = m->flags;
	out->file_offset = out->addr - m->start + m->pgoff;
	out->flags = (uint8_t)(flags | (m->is & PD_MAP_DATA ? PD_LOCATION_DATA : 0));
	out->why = PD_WHY_FOUND;
	return true;
}

/* Finds the file's text that an anonymous map has replaced. Returns its map, or PD_NOTHING. */
static uint32_t find_original(const struct pd_history *h, uint32_t space, uint64_t addr,
			      const struct pd_learned_map *copy)
{
	for (int i = 0; i < MAX_COPIES; i++) {
		const uint32_t before = copy->rank - 1;
		const struct pd_map_piece *p;

		/* an older map was in a parent's space, or in this one before */
		p = pd_history_find_piece(h, space, addr, before);
		if (!p)
			return PD_NOTHING;
		copy = pd_map_at(h, p->map);
		if (!(copy->is & PD_MAP_COPY))
			return !(copy->is & PD_MAP_DATA) &&
					       pd_image_at(h, copy->image)->kind <= PD_IMAGE_DELETED
				       ? p->map
				       : PD_NOTHING;
		if (copy->rank > before)
			return PD_NOTHING;
	}
	return PD_NOTHING;
}

/* Context for the lookup of a sample's addresses. */
struct lookup {
	const struct pd_history *h;
	uint32_t pid, rank;
	uint8_t machine;
	bool is_after_loss;
	uint8_t mode, flags;		/* of the next address */
	bool is_list;			/* addresses are not located */
	bool has_deferred;		/* those of a cookie are added */
	uint64_t time;
	struct pd_location *out;
	size_t capacity, n;
	/* The last space of each kind: most addresses are in the same ones. */
	struct {
		uint64_t key;		/* + 1; 0: none yet */
		uint32_t space;
	} last[PD_NR_SPACES_OF];
};

static struct lookup lookup_at(const struct pd_history *h, int32_t pid, const struct pd_moment *at)
{
	return (struct lookup){
		.h = h, .pid = (uint32_t)pid, .rank = pd_history_rank_of(h, at),
		.time = h->has_times ? at->time : PD_NO_TIME,
		.is_after_loss = pd_history_is_after_loss(h, at),
	};
}

/* Finds a space. Asks for all pieces of a small one, and their maps, at once: they are seldom in
 * the cache. (gcc 12 removes calls of a function that does nothing else.) */
static uint32_t find_space(struct lookup *l, enum pd_space_of of, uint64_t key)
{
	const struct pd_map_piece *pieces;
	const struct pd_space *s;
	uint32_t space;

	if (l->last[of].key == key + 1)
		return l->last[of].space;
	space = pd_history_find_space(l->h, key, l->rank);
	l->last[of].key = key + 1;
	l->last[of].space = space;
	if (space == PD_NOTHING)
		return space;
	s = pd_space_at(l->h, space);
	if (!s->count || s->count > PREFETCHED)
		return space;
	pieces = pd_map_piece_at(l->h, pd_first_piece(l->h, s));
	for (uint32_t i = 1; i < s->count; i++)
		__builtin_prefetch(pieces + i);
	for (uint32_t i = 0; i < s->count; i++)
		__builtin_prefetch(pd_map_at(l->h, pieces[0].map + i));
	return space;
}

static bool locate_live(const struct pd_history *h, uint64_t key, struct pd_location *out)
{
	bool is_known;
	const struct pd_mapped *space = pd_live_space(h->live, key, &is_known);
	const struct pd_learned_map *m = pd_ranges_find(space, out->addr), *original;

	if (!m) {
		out->why = is_known ? PD_WHY_NO_MAP : PD_WHY_NO_PID;
		return false;
	}
	original = m->is & PD_MAP_COPY ? pd_ranges_find_original(h, space, out->addr) : NULL;
	if (original)
		return found(original, PD_NOTHING, PD_LOCATION_REMAPPED, out);
	return found(m, PD_NOTHING, 0, out);
}

static bool locate_in(struct lookup *l, enum pd_space_of of, uint32_t pid, struct pd_location *out)
{
	const struct pd_history *h = l->h;
	const uint64_t key = pd_space_key(l->machine, of, pid);
	const struct pd_map_piece *p;
	const struct pd_learned_map *m;
	uint32_t original, space;

	if (h->live)
		return locate_live(h, key, out);
	space = find_space(l, of, key);
	p = pd_history_find_piece(h, space, out->addr, l->rank);
	if (!p) {
		out->why = space == PD_NOTHING ? PD_WHY_NO_PID :
			   pd_space_at(h, space)->flags & PD_SPACE_CUT ? PD_WHY_LIMIT :
									  PD_WHY_NO_MAP;
		return false;
	}
	m = pd_map_at(h, p->map);
	if (m->is & PD_MAP_END) {
		out->why = PD_WHY_NO_MAP;
		return false;
	}
	if (m->is & PD_MAP_COPY) {
		original = find_original(h, space, out->addr, m);
		if (original != PD_NOTHING)
			return found(pd_map_at(h, original), original, PD_LOCATION_REMAPPED, out);
	}
	return found(m, p->map, 0, out);
}

static bool locate_in_kernel(struct lookup *l, struct pd_location *out)
{
	if (locate_in(l, PD_SPACE_OF_KSYMBOLS, 0, out) || locate_in(l, PD_SPACE_OF_KERNEL, 0, out))
		return true;
	out->why = l->h->has_hidden_kernel ? PD_WHY_KPTR_RESTRICT : PD_WHY_NO_MAP;
	return false;
}

static bool locate_in_guest(struct lookup *l, struct pd_location *out)
{
	if (locate_in(l, PD_SPACE_OF_GUEST_KERNEL, l->pid, out) ||
	    locate_in(l, PD_SPACE_OF_GUEST_KERNEL, 0, out))
		return true;
	out->why = PD_WHY_NO_MAP;
	return false;
}

/* Kernels of virtual machines may also be known by the process only. */
static bool locate_in_machine(struct lookup *l, struct pd_location *out)
{
	struct lookup host = *l;

	if (locate_in(l, PD_SPACE_OF_KSYMBOLS, 0, out) || locate_in(l, PD_SPACE_OF_KERNEL, 0, out))
		return true;
	host.machine = PD_HOST;
	host.pid = (uint32_t)pd_history_machine_pid(l->h, l->machine);
	return locate_in_guest(&host, out);
}

/* Addresses in a known virtual machine. */
static bool locate_in_own(struct lookup *l, struct pd_location *out)
{
	switch (out->cpumode) {
	case PD_CPUMODE_USER:
	case PD_CPUMODE_GUEST_USER:
		return locate_in(l, PD_SPACE_OF_PROCESS, l->pid, out);
	case PD_CPUMODE_UNKNOWN:
		return locate_in(l, PD_SPACE_OF_PROCESS, l->pid, out) || locate_in_machine(l, out);
	case PD_CPUMODE_HYPERVISOR:
		out->why = PD_WHY_HYPERVISOR;
		return false;
	default:
		return locate_in_machine(l, out);
	}
}

static bool locate_by_mode(struct lookup *l, struct pd_location *out)
{
	if (l->machine)
		return locate_in_own(l, out);
	switch (out->cpumode) {
	case PD_CPUMODE_USER:
		return locate_in(l, PD_SPACE_OF_PROCESS, l->pid, out);
	case PD_CPUMODE_KERNEL:
		return locate_in_kernel(l, out);
	case PD_CPUMODE_UNKNOWN:
		return locate_in(l, PD_SPACE_OF_PROCESS, l->pid, out) || locate_in_kernel(l, out);
	case PD_CPUMODE_GUEST_USER:
		return locate_in(l, PD_SPACE_OF_GUEST_PROCESS, l->pid, out);
	case PD_CPUMODE_GUEST_KERNEL:
		return locate_in_guest(l, out);
	default:
		out->why = PD_WHY_HYPERVISOR;
		return false;
	}
}

/* Lists an address that is not located yet. */
static void list_address(const struct lookup *l, uint64_t addr, enum pd_location_of of,
			 uint8_t flags, struct pd_location *out)
{
	*out = (struct pd_location){ .addr = addr, .image = PD_NO_IMAGE, .cpumode = l->mode,
				     .flags = flags, .of = (uint8_t)of, .time = l->time };
}

static bool look_up(struct lookup *l, uint64_t addr, enum pd_location_of of,
		    struct pd_location *out)
{
	list_address(l, addr, of, 0, out);
	if (locate_by_mode(l, out))
		return true;
	if (l->h->is_limited && out->why <= PD_WHY_NO_PID)
		out->why = PD_WHY_LIMIT;
	else if (l->is_after_loss && out->why == PD_WHY_NO_MAP)
		out->why = PD_WHY_MAPS_LOST;
	return false;
}

bool pd_history_locate(const struct pd_history *h, int32_t pid, uint64_t addr,
		       enum pd_cpumode mode, const struct pd_moment *at, struct pd_location *out)
{
	struct pd_location unused;
	struct lookup l;

	if (!h || !at)
		return false;
	l = lookup_at(h, pid, at);
	l.mode = (uint8_t)mode;
	return look_up(&l, addr, PD_LOCATION_OF_IP, out ? out : &unused);
}

/* Appends a location while there is room; counts all. */
static void add_location(struct lookup *l, uint64_t addr, enum pd_location_of of, uint8_t flags)
{
	if (l->n < l->capacity) {
		if (l->is_list) {
			list_address(l, addr, of, flags, &l->out[l->n]);
		} else {
			look_up(l, addr, of, &l->out[l->n]);
			l->out[l->n].flags |= flags;
		}
	}
	l->n++;
}

/* Returns the cpumode of the addresses after a context marker. */
static uint8_t mode_of_marker(const struct pd_history_bits *bits, uint64_t marker)
{
	for (size_t i = 0; i < PD_NR_MARKERS; i++)
		if (bits->markers[i].value == marker)
			return bits->markers[i].mode;
	return PD_CPUMODE_UNKNOWN;
}

/* Adds an address, or takes a context marker. The first address, and the first after each marker,
 * is where the task was; the others are return addresses. */
static void add_entry(struct lookup *l, uint64_t entry)
{
	if (entry < PD_FIRST_MARKER) {
		add_location(l, entry, PD_LOCATION_OF_CALLCHAIN, l->flags);
		l->flags = PD_LOCATION_RETURN;
		return;
	}
	l->mode = mode_of_marker(&l->h->bits, entry);
	l->flags = 0;
}

/* Adds the addresses that the kernel recorded later for this cookie. A callchain has one cookie, at
 * its end. */
static void add_deferred(struct lookup *l, uint64_t cookie)
{
	const struct pd_deferred_chain *chain = l->has_deferred ? NULL :
		pd_map_find(&l->h->deferred, cookie);

	l->has_deferred = true;
	for (size_t i = 0; chain && i < chain->count; i++)
		add_entry(l, chain->ips[i]);
}

/* Takes a call stack out of branches. */
struct calls {
	struct lookup *lookup;
	bool has_leaf;		/* where the task was in the last function called */
};

static void add_call(void *calls, const struct pd_branch *b)
{
	struct calls *c = calls;

	if (!c->has_leaf)
		add_location(c->lookup, b->to, PD_LOCATION_OF_BRANCH_TO, 0);
	c->has_leaf = true;
	add_location(c->lookup, b->from, PD_LOCATION_OF_BRANCH_FROM, 0);
}

/* Adds the calls that a deep stack's own branches no longer have. */
static void add_older_calls(struct lookup *l, const struct pd_record *sample, size_t calls)
{
	const struct pd_stitched_call *c;
	uint32_t max;

	if (!l->h->stitcher)
		return;
	c = pd_stitcher_find(l->h->stitcher, sample, &max);
	for (; c && calls < max; c = c->next, calls++)
		add_location(l, c->from, PD_LOCATION_OF_BRANCH_FROM, PD_LOCATION_STITCHED);
}

/* Adds the user part of a callchain that the CPU recorded as branches: the address after the
 * marker, then the calls. Returns whether there are any. */
static bool add_calls(struct lookup *l, const struct pd_record *sample,
		      const struct pd_numbers *chain, size_t after_marker)
{
	const uint64_t leaf = after_marker < chain->count ? pd_number_at(chain, after_marker) :
							    PD_FIRST_MARKER;
	struct calls c = { l, leaf < PD_FIRST_MARKER };
	const size_t before = l->n;
	int64_t hw_idx;
	size_t nr;

	if (c.has_leaf)
		add_entry(l, leaf);
	nr = pd_branches_each(sample, add_call, &c, &hw_idx);
	if (nr) {
		add_older_calls(l, sample, nr);
		return true;
	}
	l->n = before;
	l->flags = 0;
	return false;
}

/* The same as pd_number_at(), without a call for nearly all chains. */
static uint64_t chain_entry(const struct pd_numbers *n, size_t i)
{
	uint64_t entry;

	if (!pd_chain_is_plain(n))
		return pd_number_at(n, i);
	memcpy(&entry, n->data + i * sizeof(entry), sizeof(entry));
	return entry;
}

/* Adds the addresses of a callchain. `calls`: the sample, if it has a call stack in branches. */
static void add_callchain(struct lookup *l, const struct pd_numbers *chain,
			  const struct pd_record *calls)
{
	l->flags = 0;
	for (size_t i = 0; i < chain->count; i++) {
		const uint64_t entry = chain_entry(chain, i);

		add_entry(l, entry);
		if (calls && entry == l->h->bits.user && add_calls(l, calls, chain, i + 1))
			return;
		if (entry == l->h->bits.deferred && ++i < chain->count)	/* a cookie, no address */
			add_deferred(l, pd_number_at(chain, i));
	}
}

static void add_ip(struct lookup *l, uint16_t misc, const uint64_t *ip)
{
	l->mode = misc & PD_MISC_CPUMODE;
	if (ip)
		add_location(l, *ip, PD_LOCATION_OF_IP, 0);
}

static struct lookup lookup_of_record(const struct pd_history *h, const struct pd_record *r,
				      struct pd_location *out, size_t capacity)
{
	struct pd_moment at;
	struct lookup l;
	uint64_t pid;

	if (!pd_record_number(r, PD_OF_BODY, PD_HOT_PID, &pid))
		pid = (uint64_t)-1;
	pd_record_moment(r, &at);
	l = lookup_at(h, (int32_t)pid, &at);
	l.machine = pd_guest_number(pd_history_guest_of(h, r));
	l.out = out;
	l.capacity = capacity;
	return l;
}

size_t pd_history_frames(const struct pd_history *h, const struct pd_record *sample,
			 struct pd_location *out, size_t capacity)
{
	struct pd_numbers chain;
	struct lookup l;
	uint64_t ip;
	bool has_ip;

	if (!h || !sample || sample->frame.type != PD_RECORD_SAMPLE)
		return 0;
	l = lookup_of_record(h, sample, out, out ? capacity : 0);
	has_ip = pd_record_number(sample, PD_OF_BODY, PD_HOT_IP, &ip);
	add_ip(&l, sample->frame.misc, has_ip ? &ip : NULL);
	if (sample->plan && pd_take_callchain(sample->plan, sample->body, sample->extent.nr_ops,
					      sample->session->swap, &chain))
		add_callchain(&l, &chain, pd_attr_has_call_stacks(sample->attr) ? sample : NULL);
	return l.n;
}

static struct pd_moment moment_of_fields(const struct pd_fields *f)
{
	return (struct pd_moment){ f->has & PD_HAS_TIME ? f->time : PD_NO_TIME, f->offset, 0 };
}

static struct lookup lookup_of_fields(const struct pd_history *h, const struct pd_fields *f,
				      uint32_t rank)
{
	const struct pd_moment at = moment_of_fields(f);

	return (struct lookup){
		.h = h, .pid = (uint32_t)(f->has & PD_HAS_PID ? f->pid : -1), .rank = rank,
		.time = h->has_times ? at.time : PD_NO_TIME,
		.is_after_loss = pd_history_is_after_loss(h, &at),
		.machine = pd_guest_number(f->has & PD_HAS_ID ? pd_history_guest(h, f->id) : NULL),
	};
}

static size_t add_fields(struct lookup *l, const struct pd_fields *f, struct pd_location *out,
			 size_t capacity)
{
	l->out = out;
	l->capacity = out ? capacity : 0;
	add_ip(l, f->misc, f->has & PD_HAS_IP ? &f->ip : NULL);
	if (f->has & PD_HAS_CALLCHAIN)
		add_callchain(l, &f->callchain, NULL);
	return l->n;
}

size_t pd_history_fields_frames(const struct pd_history *h, const struct pd_fields *f,
				struct pd_location *out, size_t capacity)
{
	struct pd_moment at;
	struct lookup l;

	if (!h || !f || f->type != PD_RECORD_SAMPLE)
		return 0;
	at = moment_of_fields(f);
	l = lookup_of_fields(h, f, pd_history_rank_of(h, &at));
	return add_fields(&l, f, out, capacity);
}

size_t pd_history_fields_addresses(const struct pd_history *h, const struct pd_fields *f,
				   struct pd_location *out, size_t capacity)
{
	struct lookup l;

	if (!h || !f || f->type != PD_RECORD_SAMPLE)
		return 0;
	l = lookup_of_fields(h, f, 0);
	l.is_list = true;
	return add_fields(&l, f, out, capacity);
}

bool pd_history_locate_address(const struct pd_history *h, const struct pd_fields *f,
			       uint64_t state, struct pd_location *address)
{
	struct lookup l;
	uint8_t flags;
	bool is_found;

	if (!h || !f || !address)
		return false;
	l = lookup_of_fields(h, f, (uint32_t)(state >> 1));
	l.mode = address->cpumode;
	flags = address->flags;
	is_found = look_up(&l, address->addr, (enum pd_location_of)address->of, address);
	address->flags |= flags;
	return is_found;
}

static void add_branch(void *lookup, const struct pd_branch *b)
{
	add_location(lookup, b->from, PD_LOCATION_OF_BRANCH_FROM, 0);
	add_location(lookup, b->to, PD_LOCATION_OF_BRANCH_TO, 0);
}

size_t pd_history_branches(const struct pd_history *h, const struct pd_record *sample,
			   struct pd_location *out, size_t capacity)
{
	struct lookup l;
	int64_t hw_idx;

	if (!h || !sample || sample->frame.type != PD_RECORD_SAMPLE)
		return 0;
	l = lookup_of_record(h, sample, out, out ? capacity : 0);
	l.mode = PD_CPUMODE_UNKNOWN;
	pd_branches_each(sample, add_branch, &l, &hw_idx);
	return l.n;
}

bool pd_history_data(const struct pd_history *h, const struct pd_record *sample,
		     struct pd_location *out)
{
	struct lookup l;
	uint64_t addr;

	if (!h || !out || !sample || sample->frame.type != PD_RECORD_SAMPLE ||
	    !pd_record_number(sample, PD_OF_BODY, PD_HOT_ADDR, &addr) || !addr)
		return false;
	l = lookup_of_record(h, sample, out, 1);
	l.mode = PD_CPUMODE_UNKNOWN;
	add_location(&l, addr, PD_LOCATION_OF_ADDR, 0);
	return true;
}

const char *pd_why_name(unsigned int why)
{
	static const char *const names[] = {
		[PD_WHY_FOUND] = "", [PD_WHY_NO_MAP] = "NO_MAP", [PD_WHY_MAPS_LOST] = "MAPS_LOST",
		[PD_WHY_NO_PID] = "NO_PID", [PD_WHY_KPTR_RESTRICT] = "KPTR_RESTRICT",
		[PD_WHY_HYPERVISOR] = "HYPERVISOR", [PD_WHY_LIMIT] = "LIMIT",
		[PD_WHY_NO_FILE] = "NO_FILE", [PD_WHY_MISMATCH] = "MISMATCH",
		[PD_WHY_NOT_ELF] = "NOT_ELF", [PD_WHY_NO_SYMBOLS] = "NO_SYMBOLS",
		[PD_WHY_NO_SYMBOL] = "NO_SYMBOL", [PD_WHY_JIT_NO_MAP] = "JIT_NO_MAP",
		[PD_WHY_NO_KERNEL] = "NO_KERNEL",
		[PD_WHY_FOREIGN_NAMESPACE] = "FOREIGN_NAMESPACE", [PD_WHY_BAD_FILE] = "BAD_FILE",
		[PD_WHY_JIT_REUSED] = "JIT_REUSED",
	};

	return why < sizeof(names) / sizeof(*names) ? names[why] : "UNKNOWN";
}
