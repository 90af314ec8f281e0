/* code.c - code that was generated at run time: see code.h. */
#include "jit/code.h"

int ps_jit_add(struct ps_jit_code *c, const struct ps_jit_range *r)
{
	if (r->end <= r->start)
		return 0;
	if (c->nr == c->capacity) {
		const size_t more = c->capacity ? c->capacity * 2 : 256;
		struct ps_jit_range *grown = more < PS_FLAT_NONE ?
			pd_budget_grow(c->budget, c->ranges, c->capacity * sizeof(*grown),
				       more * sizeof(*grown)) : NULL;

		if (!grown)
			return -1;
		c->ranges = grown;
		c->capacity = more;
	}
	c->ranges[c->nr++] = *r;
	return 0;
}

int ps_jit_seal(struct ps_jit_code *c)
{
	struct ps_range *ranges = pd_budget_alloc(c->budget, c->nr * sizeof(*ranges));
	int ret;

	if (!ranges)
		return -1;
	for (size_t i = 0; i < c->nr; i++)
		ranges[i] = (struct ps_range){ c->ranges[i].start, c->ranges[i].end, (uint32_t)i };
	c->flat.budget = c->budget;
	ret = ps_flat_build(&c->flat, ranges, c->nr);
	pd_budget_free(c->budget, ranges, c->nr * sizeof(*ranges));
	return ret;
}

bool ps_jit_find(const struct ps_jit_code *c, uint64_t address, struct ps_symbol *out)
{
	const uint32_t i = ps_flat_find(&c->flat, address);

	if (i == PS_FLAT_NONE)
		return false;
	*out = (struct ps_symbol){ .start = c->ranges[i].start, .end = c->ranges[i].end,
				   .name = c->ranges[i].name, .name_size = c->ranges[i].name_size,
				   .binding = PS_GLOBAL, .source = (uint8_t)c->source };
	return true;
}

void ps_jit_free(struct ps_jit_code *c)
{
	pd_budget_free(c->budget, c->ranges, c->capacity * sizeof(*c->ranges));
	ps_flat_free(&c->flat);
	*c = (struct ps_jit_code){ .budget = c->budget };
}
