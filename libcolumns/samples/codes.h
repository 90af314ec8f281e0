/* codes.h - numbers for the code of JIT compilers: a process has other functions in memory without
 * a file than another, and at another time. */
#ifndef PC_CODES_H
#define PC_CODES_H

#include "store/index.h"

struct pc_code {
	uint64_t since;		/* pd_namer.since() */
	uint32_t image;
	int32_t pid;
};

/* Must be zero-initialized, except for the budgets. */
struct pc_codes {
	struct pc_index index;
	struct pd_buf items;	/* struct pc_code */
};

/* Returns the number, or PC_NONE without memory. */
uint32_t pc_code_number(struct pc_codes *c, const struct pc_code *code);
/* Returns the image of a number. */
uint32_t pc_code_image(const struct pc_codes *c, uint32_t number);
void pc_codes_free(struct pc_codes *c);

#endif
