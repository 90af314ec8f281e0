/* regs.h - names of the registers that a sample can have. */
#ifndef RECORD_REGS_H
#define RECORD_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the mask of all registers that this machine's kernel accepts. */
uint64_t regs_all(void);
/* Parses "ax,ip", a mask 0x... or "" for all. False: an unknown name. */
bool regs_parse(const char *text, uint64_t *mask);
void regs_list(FILE *out);

#endif
