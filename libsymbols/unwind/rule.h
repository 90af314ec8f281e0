/* rule.h - a row in 24 bytes: the form of nearly all of them, and a slot of the cache. */
#ifndef PS_UNWIND_RULE_H
#define PS_UNWIND_RULE_H

#include "unwind/end.h"
#include "unwind/row.h"

enum ps_rule_kind {
	PS_RULE_PLAIN,		/* CFA = register + offset */
	PS_RULE_PLT,		/* CFA = sp + offset, and a word more from `cfa_reg` on in an entry
				 * of 16 bytes: the code there has pushed one */
	PS_RULE_ROW,		/* cfa_offset is the number of a row that is kept in full */
	PS_RULE_END,		/* cfa_reg is why there is no rule: enum ps_end */
};

/* Bits of ps_rule.flags besides the kind. */
enum {
	PS_RULE_KIND = 3,
	PS_RULE_SIGNAL = 4,
	PS_RULE_DROPS = 8,	/* the row has more registers than a rule keeps */
	PS_RULE_OF_CODE = 16,	/* as of_code of the row */
};

/* Instead of a distance. */
enum {
	PS_WORDS_SAME = INT16_MIN,		/* the register is unchanged */
	PS_WORDS_UNKNOWN = INT16_MIN + 1,	/* its value is lost; of `ra`: the outermost
						 * frame */
};

struct ps_rule {
	uint64_t vaddr;
	uint32_t image;		/* number of the image, plus 1; 0: a free slot */
	int32_t cfa_offset;
	int16_t ra, fp, more;	/* where they are saved, in words from the CFA */
	uint8_t cfa_reg;
	uint8_t flags;
};

_Static_assert(sizeof(struct ps_rule) == 24, "slots are 24 bytes");

static inline enum ps_rule_kind ps_rule_kind(const struct ps_rule *rule)
{
	return (enum ps_rule_kind)(rule->flags & PS_RULE_KIND);
}

/* Makes the rule of a row, without vaddr and image. Returns false if it does not fit. */
bool ps_rule_make(const struct ps_row *row, const struct ps_arch *arch, struct ps_rule *out);

#endif
