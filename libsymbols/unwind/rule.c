/* rule.c - rows in 24 bytes: see rule.h. */
#include "unwind/rule.h"

#include <dwarf.h>

/* Converts a location to a distance in words. */
static bool make_words(const struct ps_location *at, const struct ps_arch *arch, int16_t *out)
{
	const int64_t words = at->offset / arch->word;

	if (at->where == PS_AT_SAME) {
		*out = PS_WORDS_SAME;
		return true;
	}
	if (at->where == PS_AT_NOWHERE) {
		*out = PS_WORDS_UNKNOWN;
		return true;
	}
	*out = (int16_t)words;
	return at->where == PS_AT_CFA && at->offset % arch->word == 0 &&
	       words > PS_WORDS_UNKNOWN && words <= INT16_MAX;
}

/* The linker's CFA of a PLT: sp + word + ((pc & 15) >= N) * word. */
static bool is_plt(const struct ps_row *row, const struct ps_arch *arch)
{
	const struct ps_op *op = row->ops + row->cfa.first;
	const unsigned int shift = arch->word == 8 ? 3 : 2;

	return row->cfa.where == PS_IS_EXPRESSION && row->cfa.count == 9 &&
	       op[0].atom == DW_OP_breg0 + arch->sp && op[0].number == arch->word &&
	       op[1].atom == DW_OP_breg0 + arch->ra && op[1].number == 0 &&
	       op[2].atom == DW_OP_lit15 && op[3].atom == DW_OP_and &&
	       op[4].atom >= DW_OP_lit0 && op[4].atom <= DW_OP_lit15 &&
	       op[5].atom == DW_OP_ge && op[6].atom == DW_OP_lit0 + shift &&
	       op[7].atom == DW_OP_shl && op[8].atom == DW_OP_plus;
}

static bool make_cfa(const struct ps_row *row, const struct ps_arch *arch, struct ps_rule *out)
{
	if (is_plt(row, arch)) {
		out->cfa_reg = (uint8_t)(row->ops[row->cfa.first + 4].atom - DW_OP_lit0);
		out->cfa_offset = arch->word;
		out->flags = PS_RULE_PLT;
		return true;
	}
	if (row->cfa.where != PS_IN_REGISTER || row->cfa.offset < INT32_MIN ||
	    row->cfa.offset > INT32_MAX)
		return false;
	out->cfa_reg = row->cfa.reg;
	out->cfa_offset = (int32_t)row->cfa.offset;
	out->flags = PS_RULE_PLAIN;
	return true;
}

/* Returns whether a rule would lose what the row states of a register that rules do not keep. That
 * a register which a call may change is unchanged need not be kept. */
static bool drops_register(const struct ps_row *row, const struct ps_arch *arch, unsigned int reg)
{
	const bool preserved = arch->preserved >> reg & 1;

	if (reg == arch->sp || reg == arch->fp || reg == arch->more || reg == arch->ra)
		return false;
	return row->at[reg].where != PS_AT_SAME &&
	       (preserved || row->at[reg].where != PS_AT_NOWHERE);
}

bool ps_rule_make(const struct ps_row *row, const struct ps_arch *arch, struct ps_rule *out)
{
	const struct ps_location *sp = &row->at[arch->sp];

	if (!make_cfa(row, arch, out) || !make_words(&row->at[arch->ra], arch, &out->ra) ||
	    !make_words(&row->at[arch->fp], arch, &out->fp) ||
	    !make_words(&row->at[arch->more], arch, &out->more))
		return false;
	if (sp->where != PS_AT_NOWHERE && !(sp->where == PS_IS_CFA && !sp->offset))
		return false;
	/* The registers of a signal's frame are found elsewhere than its CFI says. */
	if (row->signal && arch->signal_registers)
		return false;
	if (out->ra == PS_WORDS_SAME && !arch->link)
		return false;
	if (row->signal)
		out->flags |= PS_RULE_SIGNAL;
	if (row->of_code)
		out->flags |= PS_RULE_OF_CODE;
	for (unsigned int reg = 0; reg < arch->nr_registers; reg++)
		if (drops_register(row, arch, reg)) {
			out->flags |= PS_RULE_DROPS;
			break;
		}
	return true;
}
