/* section_chain.c - finds the number that breaks a chain of sections. A wrong offset has a break on
 * both sides of its section, a wrong size one after it. */
#include "container/section_chain.h"

static uint64_t end_of(const struct pd_section *s)
{
	return s->offset + s->size;
}

/* Returns where the section after the i-th one begins: the end of the file after the last one. */
static uint64_t next_begin(const struct pd_section_chain *c, size_t i)
{
	return i + 1 < c->n ? c->list[i + 1].offset : c->end;
}

static uint64_t end_before(const struct pd_section_chain *c, size_t i)
{
	return i ? end_of(&c->list[i - 1]) : c->begin;
}

/* Returns the first section from `i` on that does not end where the next one begins; c->n if there
 * is none. */
static size_t find_break(const struct pd_section_chain *c, size_t i)
{
	while (i < c->n && end_of(&c->list[i]) == next_begin(c, i))
		i++;
	return i;
}

/* Returns whether the i-th section, after whose end the chain breaks, would be whole where the one
 * before ends. An entry of zeros is one that was not written. */
static bool has_wrong_offset(const struct pd_section_chain *c, size_t i)
{
	return c->list[i].size && c->list[i].offset != end_before(c, i) &&
	       end_before(c, i) + c->list[i].size == next_begin(c, i) &&
	       find_break(c, i + 1) == c->n;
}

bool pd_section_chain_find(const struct pd_section_chain *c, struct pd_chain_break *out)
{
	const size_t at = find_break(c, 0);

	if (at == c->n || c->n < 2)
		return false;
	for (size_t i = at; i <= at + 1 && i < c->n; i++)
		if ((i == 0 || i > at) && has_wrong_offset(c, i)) {
			*out = (struct pd_chain_break){ i, PD_BREAK_OFFSET, end_before(c, i) };
			return true;
		}
	if (next_begin(c, at) < c->list[at].offset || find_break(c, at + 1) < c->n)
		return false;
	*out = (struct pd_chain_break){ at, PD_BREAK_SIZE,
					next_begin(c, at) - c->list[at].offset };
	return true;
}

bool pd_section_chain_is_there(const struct pd_section_chain *c)
{
	const uint64_t most = c->begin + PD_FEATURE_TABLES_MAX;
	struct pd_chain_break found;

	if (c->n < 3)
		return false;
	if (find_break(c, 1) == c->n)
		return c->list[1].offset >= c->begin && c->list[1].offset <= c->end;
	return c->list[0].offset >= c->begin && c->list[0].offset <= most &&
	       pd_section_chain_find(c, &found);
}
