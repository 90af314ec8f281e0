/* x86_operands.h - decodes an instruction of x86: its opcode and operands. */
#ifndef PS_UNWIND_X86_OPERANDS_H
#define PS_UNWIND_X86_OPERANDS_H

#include <stdbool.h>

#include "base/cursor.h"

enum { PS_REX_W = 8, PS_REX_R = 4, PS_REX_X = 2, PS_REX_B = 1 };
enum { PS_MAP_ONE, PS_MAP_0F, PS_MAP_0F38, PS_MAP_0F3A, PS_MAPS };

struct ps_x86_operands {
	struct pd_cursor at;
	bool wide;		/* 64 bits */
	bool is_short;		/* prefix 0x66 */
	bool is_vector;		/* VEX or EVEX */
	uint8_t rex;
	uint8_t map, opcode;
	uint8_t mod, reg, rm;
	uint8_t base;		/* of an operand in memory; PS_X86_NO_REGISTER: none, or an index */
	int64_t displacement, immediate;
};

/* Decodes the instruction at d->at, of which `wide` is set, and moves after it. Returns false if it
 * is cut off or not one that compilers write. */
bool ps_x86_take(struct ps_x86_operands *d);

#endif
