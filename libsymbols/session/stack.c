/* stack.c - the frames of a sample, its copied stack unwound with the files of the session. */
#include <string.h>

#include "session/session.h"

#define WORKER_MEMORY (8u << 20)	/* taken from the budget of the session */
#define MAX_REGISTERS 64
#define KEPT_ADDRESSES 8192		/* powers of 2 */
#define KEPT_PROCESSES 64

/* A process whose addresses are kept. It gets another generation when the history has something
 * new of it. */
struct kept_process {
	uint64_t generation;		/* 0: free */
	uint64_t state;
	int32_t pid;
	bool has_time;			/* the moment it was asked for */
};

/* Where an address lies. */
struct kept_address {
	uint64_t generation;		/* 0: free */
	uint64_t address;
	struct pd_location location;	/* but for its time */
	struct ps_place place;
	bool has_place;
};

/* An unwinder, used by one thread at a time, and the sample that it unwinds. */
struct ps_stack_worker {
	struct ps_stack_worker *next;	/* of the idle ones */
	struct ps_session *session;
	struct pd_budget budget;	/* threads can't share one */
	struct ps_unwinder *unwinder;
	uint64_t highest;		/* address that is mapped in any process */
	bool has_machine;		/* EM_* of the files was looked for */
	uint16_t machine;
	uint64_t registers[MAX_REGISTERS];
	int32_t pid;
	struct pd_moment at;
	uint64_t generation;		/* of its process */
	uint64_t last_generation;
	struct kept_process processes[KEPT_PROCESSES];
	struct kept_address addresses[KEPT_ADDRESSES];
};

/* --- workers --- */

/* Authentication codes of aarch64 are above the bits that addresses of the machine have. */
static uint64_t find_highest(const struct pd_history *h)
{
	struct pd_mapping m;
	uint64_t highest = 0;

	for (size_t i = 0; pd_history_mapping(h, i, &m); i++) {
		const uint64_t last = m.start + m.len - 1;

		if (m.pid >= 0 && m.len && last >= m.start && !(last >> 52) && last > highest)
			highest = last;
	}
	return highest;
}

static struct ps_stack_worker *make_worker(struct ps_session *s)
{
	struct ps_unwinder_options o = { .max_frames = s->options.max_frames };
	struct ps_stack_worker *w;

	if (!pd_budget_charge(&s->budget, WORKER_MEMORY))
		return NULL;
	w = pd_budget_alloc_written(&s->budget, sizeof(*w));
	if (!w) {
		pd_budget_give_back(&s->budget, WORKER_MEMORY);
		return NULL;
	}
	w->session = s;
	w->budget.limit = WORKER_MEMORY;
	w->highest = find_highest(s->options.history);
	o.budget = &w->budget;
	w->unwinder = ps_unwinder_new(&o);
	if (!w->unwinder) {
		pd_budget_give_back(&s->budget, WORKER_MEMORY);
		pd_budget_free(&s->budget, w, sizeof(*w));
		return NULL;
	}
	return w;
}

/* Returns where the calling thread finds the unwinder that it used last, whose caches are near its
 * CPU. Threads may share the place. */
static struct ps_stack_worker **place_of_thread(struct ps_session *s)
{
	const uint64_t hash = (uint64_t)(uintptr_t)pthread_self() * 0x9e3779b97f4a7c15;

	return &s->used_last[hash >> 32 & (PS_LAST_WORKERS - 1)].worker;
}

static struct ps_stack_worker *take_worker(struct ps_session *s)
{
	struct ps_stack_worker *w = __atomic_exchange_n(place_of_thread(s), NULL, __ATOMIC_ACQUIRE);

	if (w)
		return w;
	pthread_mutex_lock(&s->lock);
	w = s->idle;
	if (w)
		s->idle = w->next;
	else
		w = make_worker(s);
	pthread_mutex_unlock(&s->lock);
	return w;
}

static void give_back(struct ps_session *s, struct ps_stack_worker *w)
{
	w = __atomic_exchange_n(place_of_thread(s), w, __ATOMIC_ACQ_REL);
	if (!w)
		return;
	pthread_mutex_lock(&s->lock);
	w->next = s->idle;
	s->idle = w;
	pthread_mutex_unlock(&s->lock);
}

static void free_worker(struct ps_session *s, struct ps_stack_worker *w)
{
	ps_unwinder_free(w->unwinder);
	pd_budget_give_back(&s->budget, WORKER_MEMORY);
	pd_budget_free(&s->budget, w, sizeof(*w));
}

void ps_session_free_unwinders(struct ps_session *s)
{
	struct ps_stack_worker *w;

	for (size_t i = 0; i < PS_LAST_WORKERS; i++)
		if (s->used_last[i].worker)
			free_worker(s, s->used_last[i].worker);
	while ((w = s->idle)) {
		s->idle = w->next;
		free_worker(s, w);
	}
}

/* --- places --- */

/* Finds the generation of the sample's process at its moment. */
static void enter_process(struct ps_stack_worker *w)
{
	const struct pd_history *h = w->session->options.history;
	struct kept_process *p = &w->processes[(uint32_t)w->pid % KEPT_PROCESSES];
	const uint64_t state = pd_history_state_at(h, &w->at);
	const bool has_time = w->at.time != PD_NO_TIME;

	if (!p->generation || p->pid != w->pid || p->has_time != has_time ||
	    !pd_history_same_state(h, w->pid, w->pid, p->state, state)) {
		p->generation = ++w->last_generation;
		p->pid = w->pid;
		p->has_time = has_time;
	}
	p->state = state;
	w->generation = p->generation;
}

static struct kept_address *find_address(struct ps_stack_worker *w, uint64_t address)
{
	const uint64_t hash = (address ^ w->generation << 48) * 0x9e3779b97f4a7c15;
	struct kept_address *k = &w->addresses[hash >> 32 & (KEPT_ADDRESSES - 1)];

	if (k->generation == w->generation && k->address == address)
		return k;
	k->generation = w->generation;
	k->address = address;
	k->has_place = false;
	pd_history_locate(w->session->options.history, w->pid, address, PD_CPUMODE_USER, &w->at,
			  &k->location);
	return k;
}

static bool has_file(const struct pd_image *image)
{
	return image->kind == PD_IMAGE_FILE || image->kind == PD_IMAGE_DELETED ||
	       image->kind == PD_IMAGE_MEMFD || image->kind == PD_IMAGE_VDSO;
}

/* The vdso of 32-bit processes is compiled with frame pointers. */
static bool has_frame_pointers(const struct ps_session *s, uint32_t image)
{
	return strcmp(pd_history_image(s->options.history, image)->path, PD_VDSO_32) == 0;
}

/* Called by an unwinder, without the lock. */
static void find_debug_frame(void *ctx, struct ps_cfi *cfi)
{
	struct ps_loaded *l = ctx;
	const struct ps_elf *file;

	pthread_mutex_lock(&l->session->lock);
	file = ps_session_frame_file(l->session, l);
	if (file)
		ps_cfi_add_debug_frame(cfi, file);
	pthread_mutex_unlock(&l->session->lock);
}

static void open_cfi(struct ps_session *s, struct ps_loaded *l)
{
	l->cfi = ps_cfi_new(&l->binary.image, &s->budget);
	if (!l->cfi)
		return;
	ps_cfi_set_finder(l->cfi, &(struct ps_frame_finder){ find_debug_frame, l });
	ps_cfi_set_functions(l->cfi, &l->binary.symbols);
	ps_session_keep_rows(s, l->cfi);
}

/* The call before the trampoline of a signal is in another function. */
static enum ps_end switched_in(const struct ps_symtab *symbols, uint64_t vaddr)
{
	struct ps_symbol s;

	if (!ps_symtab_find(symbols, vaddr, &s) &&
	    (!ps_symtab_find(symbols, vaddr + 1, &s) || s.start != vaddr + 1))
		return PS_END_NONE;
	return ps_session_switched(s.name, s.name_size);
}

/* The same by the function that the recording names. */
static enum ps_end switched_given(struct ps_session *s, int32_t pid, const struct pd_location *l)
{
	struct ps_known known;
	const char *name;

	if (!ps_session_given(s, pid, l, &known) || !known.nr_functions)
		return PS_END_NONE;
	name = known.functions[known.nr_functions - 1].linkage_name;
	return ps_session_switched(name, strlen(name));
}

/* Fills in *out for an address in a mapped file. */
static void place_in_file(struct ps_session *s, int32_t pid, const struct pd_location *l,
			  struct ps_place *out)
{
	const struct ps_mapping map = { l->start, l->pgoff, true };
	struct ps_loaded *loaded = ps_session_load(s, l->image);
	uint64_t vaddr;

	out->why = loaded->why == PD_WHY_MISMATCH ? PS_END_MISMATCH : PS_END_NO_FILE;
	if (loaded->why != PD_WHY_FOUND) {
		if (!loaded->cfi)
			loaded->cfi = ps_session_given_cfi(s, l->image);
		if (!loaded->cfi && has_frame_pointers(s, l->image))
			out->why = PS_END_NO_CFI;
		out->cfi = loaded->cfi;
		out->switched = switched_given(s, pid, l);
		return;
	}
	if (!loaded->cfi)
		open_cfi(s, loaded);
	if (!loaded->cfi || !ps_elf_address(&loaded->binary.image, &map, l->file_offset, &vaddr))
		return;
	out->vaddr_bias = l->addr - vaddr;
	out->cfi = loaded->cfi;
	out->switched = switched_in(&loaded->binary.symbols, vaddr);
}

/* Returns whether the place depends on the moment: memory of JIT code is used again. */
static bool place_in_code(struct ps_stack_worker *w, const struct pd_image *image,
			  struct pd_location l, struct ps_place *out)
{
	struct ps_session *s = w->session;
	bool is_of_time = false;

	if (image->is_guest)
		return false;
	l.time = w->at.time;
	pthread_mutex_lock(&s->lock);
	ps_session_jit_place(s, w->pid, &l, out, &is_of_time);
	pthread_mutex_unlock(&s->lock);
	return is_of_time;
}

/* Returns whether the place depends on the moment. */
static bool find_place(struct ps_stack_worker *w, const struct pd_location *l,
		       struct ps_place *out)
{
	struct ps_session *s = w->session;
	const struct pd_image *image;

	*out = (struct ps_place){ .start = l->addr, .end = l->addr, .image = PS_NO_IMAGE,
				  .why = PS_END_NO_MAP };
	if (l->image == PD_NO_IMAGE || l->image >= s->nr_images || l->flags & PD_LOCATION_DATA)
		return false;
	out->image = l->image;
	out->file_bias = out->vaddr_bias = l->addr - l->file_offset;
	out->why = PS_END_NO_CFI;
	image = pd_history_image(s->options.history, l->image);
	if (!has_file(image))
		return place_in_code(w, image, *l, out);
	pthread_mutex_lock(&s->lock);
	place_in_file(s, w->pid, l, out);
	pthread_mutex_unlock(&s->lock);
	return false;
}

static void locate_address(void *ctx, uint64_t address, struct ps_place *out)
{
	struct ps_stack_worker *w = ctx;
	struct kept_address *k = find_address(w, address);

	if (!k->has_place)
		k->has_place = !find_place(w, &k->location, &k->place);
	*out = k->place;
}

/* --- frames --- */

/* Finds the machine that the recorded files are for, by the first that is here. */
static uint16_t machine_of_files(struct ps_session *s)
{
	uint16_t machine = 0;

	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->nr_images && !machine; i++) {
		const struct pd_image *image = pd_history_image(s->options.history, i);

		if (has_file(image) && !image->is_guest &&
		    ps_session_load(s, i)->why == PD_WHY_FOUND)
			machine = s->images[i].binary.image.header.e_machine;
	}
	pthread_mutex_unlock(&s->lock);
	return machine == EM_386 ? EM_X86_64 : machine;	/* which runs both */
}

/* A recording that ended right now may not have its features yet, and one whose recorder was killed
 * has none. */
static uint16_t machine_of(struct ps_stack_worker *w, const struct pd_copied_stack *copied)
{
	if (copied->machine)
		return copied->machine;
	if (w->session->options.ended)
		return ps_arch_here();
	if (!w->has_machine)
		w->machine = machine_of_files(w->session);
	w->has_machine = true;
	return ps_arch_has_mask(w->machine, copied->mask) ? w->machine :
							    ps_arch_of_mask(copied->mask);
}

static struct ps_copied_stack input_of(struct ps_stack_worker *w,
				       const struct pd_copied_stack *copied)
{
	size_t n = copied->registers.count;

	if (n > MAX_REGISTERS)
		n = MAX_REGISTERS;
	for (size_t i = 0; i < n; i++)
		w->registers[i] = pd_number_at(&copied->registers, i);
	return (struct ps_copied_stack){
		.arch = ps_arch_find(machine_of(w, copied), copied->abi),
		.mask = copied->mask,
		.registers = w->registers,
		.nr_registers = n,
		.bytes = copied->bytes,
		.size = copied->size,
		.swap = copied->is_swapped ? PD_SWAP_YES : PD_SWAP_NO,
		.precise = copied->is_precise,
		.highest = w->highest,
		.locate = locate_address,
		.ctx = w,
	};
}

/* A return address is located by the call before it, which may be the last of its map. A signal's
 * trampoline is not called: its symbol begins at the address. */
static void locate_frame(struct ps_stack_worker *w, const struct ps_chain_frame *f,
			 struct pd_location *out)
{
	const uint64_t before = f->flags & PS_CHAIN_RETURN ? 1 : 0;

	*out = find_address(w, f->addr - before)->location;
	if (out->time != PD_NO_TIME)
		out->time = w->at.time;
	out->addr += before;
	if (out->image != PD_NO_IMAGE)
		out->file_offset += before;
	out->of = PD_LOCATION_OF_STACK;
	if (before && !(f->flags & PS_CHAIN_SIGNAL))
		out->flags |= PD_LOCATION_RETURN;
	if (f->flags & PS_CHAIN_GUESSED)
		out->flags |= PD_LOCATION_GUESSED;
}

static bool is_user(const struct pd_location *l)
{
	return l->cpumode == PD_CPUMODE_USER || l->cpumode == PD_CPUMODE_UNKNOWN;
}

/* Drops the user part of the locations that fit. Returns how many remain. */
static size_t keep_kernel(struct pd_location *l, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_user(&l[i]))
			l[kept++] = l[i];
	return kept;
}

static size_t replace_user_part(struct ps_stack_worker *w, const struct ps_chain *chain,
				struct pd_location *out, size_t capacity, size_t n)
{
	if (n > capacity)
		return n + chain->nr_frames;
	n = keep_kernel(out, n);
	for (size_t i = 0; i < chain->nr_frames; i++, n++)
		if (n < capacity)
			locate_frame(w, &chain->frames[i], &out[n]);
	return n;
}

/* The caller of a leaf function, which chains by frame pointers lack on machines that keep the
 * return address in a register. */
static size_t insert_leaf_caller(struct ps_stack_worker *w, const struct ps_copied_stack *in,
				 struct pd_location *out, size_t capacity, size_t n)
{
	struct ps_chain_frame caller = { .flags = PS_CHAIN_RETURN };
	size_t i = 0;

	while (i < n && i < capacity && !(is_user(&out[i]) && out[i].of != PD_LOCATION_OF_IP))
		i++;
	if (n >= capacity)
		return n + 1;
	if (i >= n || !ps_unwind_leaf(w->unwinder, in, out[i].addr, &caller.addr))
		return n;
	memmove(&out[i + 2], &out[i + 1], (n - i - 1) * sizeof(*out));
	locate_frame(w, &caller, &out[i + 1]);
	return n + 1;
}

static size_t unwind_sample(struct ps_stack_worker *w, const struct pd_record *sample,
			    const struct pd_copied_stack *copied, struct pd_location *out,
			    size_t capacity, enum ps_end *end)
{
	const struct ps_copied_stack in = input_of(w, copied);
	size_t n = pd_history_frames(w->session->options.history, sample, out, capacity);
	struct ps_chain chain;
	uint64_t pid;

	if (!in.arch && copied->size)
		*end = PS_END_NO_ARCH;
	if (!in.arch || !pd_record_get_number(sample, "pid", &pid))
		return n;
	w->pid = (int32_t)pid;
	pd_record_moment(sample, &w->at);
	enter_process(w);
	if (!copied->size)
		return in.arch->link ? insert_leaf_caller(w, &in, out, capacity, n) : n;
	ps_unwind(w->unwinder, &in, &chain);
	*end = chain.end;
	return chain.nr_frames ? replace_user_part(w, &chain, out, capacity, n) : n;
}

size_t ps_frames(struct ps_session *s, const struct pd_record *sample, struct pd_location *out,
		 size_t capacity, enum ps_end *end)
{
	struct pd_copied_stack copied = { .size = 0 };
	struct ps_stack_worker *w;
	enum ps_end unused;
	size_t n;

	end = end ? end : &unused;
	*end = PS_END_NONE;
	if (!s)
		return 0;
	w = pd_record_copied_stack(sample, &copied) ? take_worker(s) : NULL;
	*end = !w && copied.size ? PS_END_LIMIT : PS_END_NONE;
	if (!w)
		return pd_history_frames(s->options.history, sample, out, capacity);
	n = unwind_sample(w, sample, &copied, out, out ? capacity : 0, end);
	give_back(s, w);
	return n;
}
