/* registers.h - machines: names of the registers in a sample, size of a word. */
#ifndef PD_LAYOUT_REGISTERS_H
#define PD_LAYOUT_REGISTERS_H

#include <stdint.h>

#include "pd/bytes.h"

/* A machine that perf samples registers of; static. */
struct pd_arch;

/* By the text of feature ARCH: uname -m ("armv7l", "s390x") or perf's names ("x86"). Or NULL. */
const struct pd_arch *pd_arch_find(struct pd_bytes arch);
/* By feature E_MACHINE (EM_ of elf.h); or NULL. */
const struct pd_arch *pd_arch_of_machine(uint32_t e_machine);

/* "x86", "arm64", ...; NULL for NULL. */
const char *pd_arch_name(const struct pd_arch *arch);
/* Bytes of the kernel's unsigned long: 4 or 8; 0 for NULL, or where the name leaves it open. */
unsigned int pd_arch_word_size(const struct pd_arch *arch);
/* "ip", "x29", ...: by bit of the attribute's mask. NULL for a NULL arch or a bit without. */
const char *pd_register_name(const struct pd_arch *arch, unsigned int bit);

#endif
