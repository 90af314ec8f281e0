/* regs.h - registers that a sample can hold, by name. */
#ifndef RECORD_REGS_H
#define RECORD_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* All that this machine's kernel takes. */
uint64_t regs_all(void);
/* "ax,ip", or a mask 0x...; "" means all. False: an unknown name. */
bool regs_parse(const char *text, uint64_t *mask);
void regs_list(FILE *out);

#endif
