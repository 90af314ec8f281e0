/* names_syscalls.h - names of system calls by number. */
#ifndef PD_LAYOUT_NAMES_SYSCALLS_H
#define PD_LAYOUT_NAMES_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

/* The numbers of a machine; NULL where a number has no name. */
struct pd_syscalls {
	const char *const *names;
	size_t n;
};

extern const struct pd_syscalls pd_syscalls_x86_64, pd_syscalls_i386, pd_syscalls_arm;
extern const struct pd_syscalls pd_syscalls_generic;	/* arm64, riscv64, loongarch64 */

/* Returns NULL if the number is unknown, or for NULL. */
const char *pd_syscall_name(const struct pd_syscalls *s, uint64_t number);

#endif
