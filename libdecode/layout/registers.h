/* registers.h - machines: names of the registers in a sample, and the word size. */
#ifndef PD_LAYOUT_REGISTERS_H
#define PD_LAYOUT_REGISTERS_H

#include <stdint.h>

#include "pd/bytes.h"

/* A machine whose registers perf can sample; static. */
struct pd_arch;

/* Finds a machine by the text of feature ARCH: uname -m ("armv7l", "s390x") or perf's names
 * ("x86"). Returns NULL if unknown. */
const struct pd_arch *pd_arch_find(struct pd_bytes arch);
/* Finds a machine by feature E_MACHINE (EM_ of elf.h). Returns NULL if unknown. */
const struct pd_arch *pd_arch_of_machine(uint32_t e_machine);

/* Returns its EM_ of elf.h; 0 for NULL, or if its name does not determine it. */
uint32_t pd_arch_machine(const struct pd_arch *arch);

/* Returns the size of the kernel's unsigned long, 4 or 8; 0 for NULL, or if the name does not
 * determine it. */
unsigned int pd_arch_word_size(const struct pd_arch *arch);
/* Returns "ip", "x29", ... for a bit of the attr's mask; NULL for a NULL arch or an unknown bit. */
const char *pd_register_name(const struct pd_arch *arch, unsigned int bit);

/* Returns the name of the system call with that number; NULL for a NULL arch, or if it is unknown.
 * A task of another ABI of the machine, such as i386 on x86_64, has numbers of its own. */
const char *pd_arch_syscall(const struct pd_arch *arch, uint64_t number);

#endif
