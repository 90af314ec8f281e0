/* arch.h - what the unwinder knows about machines: their registers by DWARF number. */
#ifndef PS_UNWIND_ARCH_H
#define PS_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define PS_MAX_REGISTERS 34

struct ps_arch {
	const char *name;
	uint16_t machine;	/* EM_* of its images */
	uint8_t word;		/* bytes of a register */
	uint8_t nr_registers;	/* DWARF numbers below it are followed */
	uint8_t sp, fp;		/* DWARF numbers */
	uint8_t more;		/* one more that compact rules follow: the callee-saved register
				 * that CFAs refer to most often */
	uint8_t ra;		/* column of the return address */
	uint8_t link;		/* the return address's column is a register: a leaf function may
				 * leave it there */
	uint8_t pc_bit;		/* of sample_regs_user */
	const int8_t *numbers;	/* DWARF number by bit of sample_regs_user; -1: none */
	uint8_t nr_bits;
	uint64_t preserved;	/* registers that a call leaves as they are, by DWARF number */
	/* In a signal's frame: distance from sp to the saved registers, and their number. The
	 * program counter is `signal_pc` from sp. 0: the CFI restores them. */
	uint16_t signal_registers, signal_pc;
};

/* enum perf_sample_regs_abi */
enum ps_abi { PS_ABI_NONE, PS_ABI_32, PS_ABI_64 };

/* Returns the EM_* of this machine, EM_NONE if it is not supported. */
uint16_t ps_arch_here(void);
/* Finds the machine whose code a task ran, by the machine (EM_*) of the recording and the `abi`
 * of the sample. NULL: not supported, or no registers. Static. */
const struct ps_arch *ps_arch_find(uint16_t machine, uint64_t abi);

/* Returns whether registers of the machine (EM_*) can be those of the mask: other machines have
 * other bits. */
bool ps_arch_has_mask(uint16_t machine, uint64_t mask);

/* Returns the machine (EM_*) of which these are all registers that perf copies; 0 if several may
 * be. */
uint16_t ps_arch_of_mask(uint64_t mask);

/* Removes the authentication code from a return address: keeps the bits below the smallest size
 * of address space that has `highest`. */
uint64_t ps_arch_strip(const struct ps_arch *a, uint64_t address, uint64_t highest);

#endif
