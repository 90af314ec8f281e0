/* x86.h - instructions of x86-64 and i386: their lengths, and what they do to the stack. */
#ifndef PS_UNWIND_X86_H
#define PS_UNWIND_X86_H

#include <stdbool.h>

#include "base/cursor.h"

enum ps_x86_effect {
	PS_X86_NONE,
	PS_X86_PUSH,		/* `reg`, or something else */
	PS_X86_POP,
	PS_X86_ADD_SP,		/* `value` */
	PS_X86_LEA_SP,		/* the stack pointer becomes `base` + `value` */
	PS_X86_LEA,		/* `reg` becomes `base` + `value` */
	PS_X86_STORE,		/* `reg` is stored at `base` + `value` */
	PS_X86_LEAVE,
	PS_X86_WRITE,		/* `reg` has some other value */
	PS_X86_CALL,		/* what is `value` bytes from the end of the instruction */
	PS_X86_CALL_INDIRECT,
	PS_X86_BRANCH,		/* to `value` bytes from the end of the instruction, or goes on */
	PS_X86_JUMP,
	PS_X86_JUMP_INDIRECT,
	PS_X86_LEAVES,		/* the function, or nothing comes after it */
};

#define PS_X86_NO_REGISTER 0xff

struct ps_x86 {
	uint8_t length;
	uint8_t effect;		/* enum ps_x86_effect */
	uint8_t reg, base;	/* as instructions number them: 4 is the stack pointer, 5 rbp */
	int64_t value;
};

/* Decodes the first instruction of these bytes. Returns false if it is cut off or not one that
 * compilers write. */
bool ps_x86_decode(struct pd_bytes code, bool wide, struct ps_x86 *out);

/* Decodes the call that these bytes end with. Returns false if there is none. */
#define PS_X86_LONGEST_CALL 8
bool ps_x86_call_before(const uint8_t code[PS_X86_LONGEST_CALL], struct ps_x86 *out);

#endif
