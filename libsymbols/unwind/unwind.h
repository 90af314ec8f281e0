/* unwind.h - call chains from the registers and stack bytes that samples copied.
 *
 * Each frame's rule comes from the call frame information (CFI) of the image that its address lies
 * in. libdw's interpreter compiles a rule once; it is kept in 24 bytes in the unwinder's cache.
 *
 * Threads: an unwinder belongs to one thread. A ps_cfi is shared: it has a lock of its own.
 */
#ifndef PS_UNWIND_UNWIND_H
#define PS_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "unwind/arch.h"
#include "unwind/cfi.h"
#include "unwind/end.h"

#define PS_MAX_FRAMES 127	/* as perf's default */

/* Where an address lies. */
struct ps_place {
	uint64_t start, end;	/* the addresses that the answer holds for, as far as known */
	uint64_t vaddr_bias;	/* address - address in the image's program headers */
	uint64_t file_bias;	/* address - offset in the image's file */
	struct ps_cfi *cfi;	/* NULL: see `why`; borrowed as long as the unwinder is used */
	uint32_t image;		/* the caller's number: equal numbers mean equal files */
	/* without cfi: the end of a chain that comes here. PS_END_NO_CFI: it is code, and a
	 * frame-pointer step may be tried */
	enum ps_end why;
	/* in a function that goes on to another stack before it calls: the end of a chain that
	 * comes here from a call. PS_END_NONE: in any other */
	enum ps_end switched;
};

/* Finds the executable mapping that holds the address. */
typedef void (*ps_locate_fn)(void *ctx, uint64_t address, struct ps_place *out);

/* Registers and stack of a thread, copied by a sample. */
struct ps_copied_stack {
	const struct ps_arch *arch;	/* by ps_arch_find(); NULL: nothing can be unwound */
	uint64_t mask;			/* sample_regs_user: which registers follow */
	const uint64_t *registers;	/* in the order of the bits of mask */
	size_t nr_registers;
	struct pd_bytes bytes;		/* from the stack pointer on: dyn_size bytes */
	/* as many were asked for: if all came, the rest is cut off */
	uint64_t size;
	enum pd_swap swap;		/* byte order of `bytes` */
	bool precise;			/* PERF_RECORD_MISC_EXACT_IP: the program counter is that of
					 * the instruction that was executed last (PEBS) */
	uint64_t highest;		/* the highest mapped address; 0: unknown. aarch64 removes
					 * pointer authentication codes above it */
	/* Equal numbers, equal answers of `locate`: what it answered is kept. 0: keep nothing. */
	uint64_t generation;
	ps_locate_fn locate;
	void *ctx;
};

enum ps_chain_flag {
	PS_CHAIN_RETURN = 1 << 0,	/* a return address: code and line are those of addr - 1 */
	PS_CHAIN_SIGNAL = 1 << 1,	/* the frame of a signal's trampoline: named by addr */
	PS_CHAIN_GUESSED = 1 << 2,	/* reached without CFI, by instructions or by a frame
					 * pointer, or after such */
};

struct ps_chain_frame {
	uint64_t addr;		/* as the stack has it, without authentication code */
	uint64_t vaddr;		/* in the image; addr where no image is known */
	uint64_t file_offset;
	uint32_t image;		/* as ps_place has it; PS_NO_IMAGE */
	uint32_t flags;		/* enum ps_chain_flag */
};

struct ps_chain {
	const struct ps_chain_frame *frames;	/* innermost first; until the next call */
	size_t nr_frames;
	enum ps_end end;
};

struct ps_unwinder_options {
	struct pd_budget *budget;	/* charged for the caches; borrowed */
	size_t max_frames;		/* 0: PS_MAX_FRAMES */
	unsigned int cache_bits;	/* the cache has 2^n slots, n up to 24; 0: 16 */
};

struct ps_unwinder;

/* Returns NULL if the budget or malloc refuses. */
struct ps_unwinder *ps_unwinder_new(const struct ps_unwinder_options *o);
void ps_unwinder_free(struct ps_unwinder *u);

/* Unwinds a stack. The chain begins with the sampled address; it is empty, and its end
 * PS_END_NONE, where the sample has no program counter or no stack pointer. */
void ps_unwind(struct ps_unwinder *u, const struct ps_copied_stack *in, struct ps_chain *out);

/* For chains by frame pointer of machines with a link register: the caller of a leaf function that
 * has not saved the register yet is missing in them. Sets *caller and returns true if the rule at
 * the sampled address says that the return address is still in its register, which `in` must
 * have; its stack bytes are not needed. */
bool ps_unwind_leaf(struct ps_unwinder *u, const struct ps_copied_stack *in, uint64_t pc,
		    uint64_t *caller);

#endif
