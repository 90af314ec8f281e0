/* unwind.c - the loop over the frames of a stack: see unwind.h. */
#include "unwind/unwind.h"

#include <string.h>

#include "unwind/cache.h"
#include "unwind/frame.h"

#define CACHE_BITS 16
#define PREFETCHED 2048	/* bytes of a stack: most frames are within them */
#define CACHE_LINE 64
#define MAX_CACHE_BITS 24

static const struct ps_rule bottom = { .flags = PS_RULE_END, .cfa_reg = PS_END_BOTTOM };

struct ps_unwinder {
	struct pd_budget *budget;
	struct ps_chain_frame *frames;
	size_t nr_frames, max_frames;
	uint32_t guessed;	/* PS_CHAIN_GUESSED, or 0: of the next frame */
	struct ps_cache cache;
};

struct ps_unwinder *ps_unwinder_new(const struct ps_unwinder_options *o)
{
	const unsigned int bits = o->cache_bits ? o->cache_bits : CACHE_BITS;
	struct ps_unwinder *u = pd_budget_alloc(o->budget, sizeof(*u));

	if (!u)
		return NULL;
	u->budget = o->budget;
	u->max_frames = o->max_frames ? o->max_frames : PS_MAX_FRAMES;
	if (u->max_frames <= UINT32_MAX)
		u->frames = pd_budget_alloc(o->budget, u->max_frames * sizeof(*u->frames));
	if (!ps_cache_open(&u->cache, o->budget, bits < MAX_CACHE_BITS ? bits : MAX_CACHE_BITS) ||
	    !u->frames) {
		ps_unwinder_free(u);
		return NULL;
	}
	return u;
}

void ps_unwinder_free(struct ps_unwinder *u)
{
	if (!u)
		return;
	ps_cache_close(&u->cache);
	pd_budget_free(u->budget, u->frames, u->max_frames * sizeof(*u->frames));
	pd_budget_free(u->budget, u, sizeof(*u));
}

static struct ps_chain_frame *add_frame(struct ps_unwinder *u, const struct ps_frame_state *f,
					const struct ps_place *place)
{
	struct ps_chain_frame *frame = &u->frames[u->nr_frames++];

	frame->addr = f->pc;
	frame->vaddr = f->pc - place->vaddr_bias;
	frame->file_offset = f->pc - place->file_bias;
	frame->image = place->image;
	frame->flags = u->guessed | (f->exact ? 0 : PS_CHAIN_RETURN);
	return frame;
}

/* A function's rule where it begins: its caller has just pushed the return address. */
static bool is_of_entry(const struct ps_rule *rule, const struct ps_arch *arch)
{
	return !(rule->flags & PS_RULE_OF_CODE) && ps_rule_kind(rule) == PS_RULE_PLAIN &&
	       rule->cfa_reg == arch->sp &&
	       rule->cfa_offset == (int32_t)arch->word && rule->ra == -1;
}

static bool is_of_signal(const struct ps_unwinder *u, const struct ps_rule *rule)
{
	return ps_rule_kind(rule) == PS_RULE_ROW ? ps_cache_row(&u->cache, rule)->signal :
						   rule->flags & PS_RULE_SIGNAL;
}

static bool is_of_code(const struct ps_unwinder *u, const struct ps_rule *rule)
{
	return ps_rule_kind(rule) == PS_RULE_ROW ? ps_cache_row(&u->cache, rule)->of_code :
						   rule->flags & PS_RULE_OF_CODE;
}

static bool has_no_cfi(const struct ps_unwinder *u, const struct ps_rule *rule)
{
	return ps_rule_kind(rule) == PS_RULE_END ? rule->cfa_reg == PS_END_NO_CFI :
						   is_of_code(u, rule);
}

/* Code without CFI may be entered as if it had been called, after other code or padding: by
 * makecontext(), where nothing has pushed a return address, or as a signal's trampoline. Or it
 * is the end of a trampoline: sigreturn does not come back, so nothing needs to follow it, and
 * samples in the kernel have that address. */
static const struct ps_rule *find_rule(struct ps_unwinder *u, const struct ps_frame_state *f,
				       const struct ps_place *place, uint64_t *address,
				       enum ps_detail detail)
{
	const uint64_t bias = place->vaddr_bias;
	const uint64_t other = f->exact ? f->pc - 1 : f->pc;
	const struct ps_rule *rule = ps_cache_rule(&u->cache, f->arch, place, *address - bias,
						   detail);
	bool is_code;

	if (!has_no_cfi(u, rule))
		return rule;
	is_code = ps_rule_kind(rule) != PS_RULE_END;
	rule = ps_cache_rule(&u->cache, f->arch, place, other - bias, detail);
	if (is_of_signal(u, rule)) {
		*address = other;
		return rule;
	}
	if (!f->exact && !is_code && is_of_entry(rule, f->arch))
		return &bottom;
	return ps_cache_rule(&u->cache, f->arch, place, *address - bias, detail);
}

/* Handlers return to a signal's trampoline; nothing has called it. */
static bool is_trampoline(struct ps_unwinder *u, const struct ps_frame_state *f,
			  const struct ps_place *place, enum ps_detail detail)
{
	return place->cfi && is_of_signal(u, ps_cache_rule(&u->cache, f->arch, place,
							   f->pc - place->vaddr_bias, detail));
}

static struct ps_code_place code_at(const struct ps_place *place, uint64_t address)
{
	return (struct ps_code_place){ place->cfi, address, place->vaddr_bias };
}

static bool is_in_no_map(struct ps_unwinder *u, const struct ps_frame_state *f)
{
	struct ps_place none;
	const struct ps_place *place = ps_cache_place(&u->cache, f->in, f->exact ? f->pc :
						      f->pc - 1, &none);

	return !place->cfi && place->why == PS_END_NO_MAP;
}

/* Without CFI, and after a guess, a return address counts if it follows a call. `callee`: the
 * frame's code if it has no CFI; NULL: any call will do. */
static enum ps_end check_caller(struct ps_unwinder *u, const struct ps_frame_state *f,
				const struct ps_code_place *callee)
{
	const uint64_t address = f->exact ? f->pc : f->pc - 1;
	struct ps_place none;
	const struct ps_place *place = ps_cache_place(&u->cache, f->in, address, &none);
	const struct ps_code_place from = { place->cfi, f->pc, place->vaddr_bias };

	if (!place->cfi)
		return place->why == PS_END_NO_MAP ? PS_END_NO_CFI : PS_END_NONE;
	return f->exact || ps_cfi_may_call(&from, callee) ? PS_END_NONE : PS_END_NO_CFI;
}

/* Follows the frame pointer, if that leads to a caller. One of 0 shows no bottom: the register
 * may be of other use. One of the caller shows the caller's caller. */
static enum ps_end guess_caller(struct ps_unwinder *u, struct ps_frame_state *f,
				const struct ps_code_place *callee)
{
	const enum ps_end end = ps_frame_step_pointer(f);

	if (end != PS_END_NONE)
		return end == PS_END_BOTTOM ? PS_END_NO_CFI : end;
	return check_caller(u, f, callee->cfi ? callee : NULL);
}

static enum ps_end follow_rule(struct ps_unwinder *u, struct ps_frame_state *f,
			       const struct ps_rule *rule)
{
	if (ps_rule_kind(rule) <= PS_RULE_PLT)
		return ps_frame_step_rule(f, rule);
	if (ps_rule_kind(rule) == PS_RULE_ROW)
		return ps_frame_step_row(f, ps_cache_row(&u->cache, rule));
	return (enum ps_end)rule->cfa_reg;
}

/* In the assembly of some libraries, call frame information is wrong (memcpy of glibc for i386: it
 * leaves out a push, or counts a pop twice). Where it leads to no code, or below the stack, the
 * instructions are asked. */
static void correct_by_code(struct ps_unwinder *u, struct ps_frame_state *f, enum ps_end *end,
			    const struct ps_frame_state *before, const struct ps_code_place *code)
{
	struct ps_frame_state other = *before;
	struct ps_row row;

	if (!ps_cfi_row_of_code(code->cfi, f->arch, code->addr - code->bias, &row) ||
	    ps_frame_step_row(&other, &row) != PS_END_NONE ||
	    check_caller(u, &other, code) != PS_END_NONE)
		return;
	*f = other;
	*end = PS_END_NONE;
	u->guessed = PS_CHAIN_GUESSED;
}

/* Goes to the caller by the rule at an address of the frame's code. Returns false if there is
 * none. */
static bool step_by_rule(struct ps_unwinder *u, struct ps_frame_state *f,
			 const struct ps_place *place, uint64_t address, enum ps_detail detail,
			 struct ps_chain_frame *frame, enum ps_end *end)
{
	const struct ps_code_place code = code_at(place, address);
	const struct ps_rule *rule = find_rule(u, f, place, &address, detail);
	const bool of_code = is_of_code(u, rule), is_behind = f->exact && address != f->pc;
	const bool is_first = f->exact && !of_code && !is_of_signal(u, rule);
	struct ps_frame_state before;

	*end = PS_END_NO_CFI;
	if (ps_rule_kind(rule) == PS_RULE_END && rule->cfa_reg == PS_END_NO_CFI)
		return false;
	if (is_behind)
		frame->flags |= PS_CHAIN_RETURN;
	else if (is_of_signal(u, rule))
		frame->flags |= PS_CHAIN_SIGNAL;
	if (is_first)
		before = *f;
	*end = follow_rule(u, f, rule);
	if (is_first && (*end == PS_END_OTHER_STACK || (*end == PS_END_NONE && is_in_no_map(u, f))))
		correct_by_code(u, f, end, &before, &code);
	if (*end == PS_END_NONE && (of_code || is_behind || frame->flags & PS_CHAIN_GUESSED))
		*end = check_caller(u, f, of_code ? &code : NULL);
	if ((*end == PS_END_BOTTOM && !f->pc && (of_code || frame->flags & PS_CHAIN_GUESSED)) ||
	    (*end == PS_END_BAD_CFI && of_code))
		*end = PS_END_NO_CFI;
	u->guessed |= of_code ? PS_CHAIN_GUESSED : 0;
	return true;
}

/* Adds the frame and goes to its caller. */
static enum ps_end step(struct ps_unwinder *u, struct ps_frame_state *f, enum ps_detail detail)
{
	uint64_t address = f->exact ? f->pc : f->pc - 1;
	struct ps_place none;
	const struct ps_place *place = ps_cache_place(&u->cache, f->in, address, &none);
	const struct ps_code_place code = code_at(place, address);
	struct ps_chain_frame *frame = add_frame(u, f, place);
	enum ps_end end = place->why;

	if (place->switched != PS_END_NONE && !f->exact) {
		if (!is_trampoline(u, f, place, detail))
			return place->switched;
		address = f->pc;
	}
	if (place->cfi && step_by_rule(u, f, place, address, detail, frame, &end))
		return end;
	if (end != PS_END_NO_CFI)
		return end;
	u->guessed = PS_CHAIN_GUESSED;
	return guess_caller(u, f, &code);
}

static enum ps_end walk(struct ps_unwinder *u, struct ps_frame_state *f, enum ps_detail detail)
{
	enum ps_end end = PS_END_NONE;

	u->guessed = 0;
	for (u->nr_frames = 0; end == PS_END_NONE;) {
		if (u->nr_frames == u->max_frames)
			return PS_END_MAX_FRAMES;
		end = step(u, f, detail);
	}
	return end;
}

/* Each frame's place follows from the frame before it, so that the loop would wait for one cache
 * line after the other. */
static void prefetch_stack(struct pd_bytes stack)
{
	for (size_t i = 0; i < PREFETCHED && i < stack.size; i += CACHE_LINE)
		__builtin_prefetch(stack.data + i);
}

void ps_unwind(struct ps_unwinder *u, const struct ps_copied_stack *in, struct ps_chain *out)
{
	struct ps_frame_state f;

	*out = (struct ps_chain){ .frames = u->frames, .end = PS_END_NONE };
	prefetch_stack(in->bytes);
	if (!in->arch || !ps_frame_start(&f, in))
		return;
	out->end = walk(u, &f, PS_ANY_RULE);
	/* Rules keep the registers that nearly all stacks need. This one needs others. */
	if (f.retry && out->end != PS_END_MAX_FRAMES) {
		ps_frame_start(&f, in);
		out->end = walk(u, &f, PS_ALL_REGISTERS);
	}
	out->nr_frames = u->nr_frames;
}

bool ps_unwind_leaf(struct ps_unwinder *u, const struct ps_copied_stack *in, uint64_t pc,
		    uint64_t *caller)
{
	const struct ps_place *place;
	const struct ps_rule *rule;
	struct ps_frame_state f;
	struct ps_place none;
	int16_t ra;

	if (!in->arch || !in->arch->link)
		return false;
	ps_frame_start(&f, in);
	if (!(f.known >> in->arch->ra & 1))
		return false;
	place = ps_cache_place(&u->cache, in, pc, &none);
	if (!place->cfi)
		return false;
	rule = ps_cache_rule(&u->cache, in->arch, place, pc - place->vaddr_bias, PS_ANY_RULE);
	ra = ps_rule_kind(rule) <= PS_RULE_PLT ? rule->ra : PS_WORDS_UNKNOWN;
	*caller = ps_arch_strip(in->arch, f.value[in->arch->ra], in->highest);
	return ra == PS_WORDS_SAME;
}
