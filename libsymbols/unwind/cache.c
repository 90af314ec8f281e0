/* cache.c - what an unwinder keeps: see cache.h. */
#include "unwind/cache.h"

#include <string.h>

#define IN_SCRATCH -1	/* number of a row that could not be kept */

bool ps_cache_open(struct ps_cache *c, struct pd_budget *budget, unsigned int bits)
{
	c->budget = budget;
	c->memory.budget = budget;
	c->bits = bits;
	c->rules = pd_budget_alloc_written(budget, sizeof(*c->rules) << bits);
	c->rows = pd_budget_alloc(budget, PS_MAX_ROWS * sizeof(const struct ps_row *));
	return c->rules && c->rows;
}

void ps_cache_close(struct ps_cache *c)
{
	pd_arena_free(&c->memory);
	pd_budget_free(c->budget, c->rules, sizeof(*c->rules) << c->bits);
	pd_budget_free(c->budget, c->rows, PS_MAX_ROWS * sizeof(const struct ps_row *));
}

/* --- places --- */

static bool holds(const struct ps_place *p, uint64_t address)
{
	return address >= p->start && address < p->end;
}

const struct ps_place *ps_cache_place(struct ps_cache *c, const struct ps_copied_stack *in,
				      uint64_t address, struct ps_place *none)
{
	const size_t set = (in->generation * 0x9e3779b97f4a7c15) >> 60;
	struct ps_kept_place *ways = c->places[set], *kept;

	for (size_t i = 0; in->generation && i < PS_PLACE_WAYS; i++)
		if (ways[i].generation == in->generation && holds(&ways[i].place, address))
			return &ways[i].place;
	*none = (struct ps_place){ .start = address, .end = address, .image = PS_NO_IMAGE,
				   .why = PS_END_NO_MAP };
	in->locate(in->ctx, address, none);
	if (!in->generation || !holds(none, address))
		return none;
	kept = &ways[c->next_way[set]++ % PS_PLACE_WAYS];
	kept->generation = in->generation;
	kept->place = *none;
	return &kept->place;
}

/* --- rules --- */

static struct ps_rule *find_slot(const struct ps_cache *c, uint32_t image, uint64_t vaddr)
{
	const uint64_t hash = (vaddr ^ ((uint64_t)image << 40)) * 0x9e3779b97f4a7c15;

	return &c->rules[c->bits ? hash >> (64 - c->bits) : 0];
}

static void forget_all(struct ps_cache *c)
{
	memset(c->rules, 0, sizeof(*c->rules) << c->bits);
	pd_arena_free(&c->memory);
	c->nr_rows = 0;
}

/* Keeps the row in scratch. Returns its number, or IN_SCRATCH without memory: the rule that has it
 * is not kept then. */
static int32_t keep_row(struct ps_cache *c)
{
	const size_t size = ps_row_size(&c->scratch);
	struct ps_row *row;

	if (c->nr_rows == PS_MAX_ROWS)
		forget_all(c);
	row = pd_arena_alloc(&c->memory, size);
	if (!row)
		return IN_SCRATCH;
	memcpy(row, &c->scratch, size);
	c->rows[c->nr_rows] = row;
	return (int32_t)c->nr_rows++;
}

const struct ps_row *ps_cache_row(const struct ps_cache *c, const struct ps_rule *rule)
{
	return rule->cfa_offset == IN_SCRATCH ? &c->scratch : c->rows[rule->cfa_offset];
}

static bool is_enough(const struct ps_rule *rule, enum ps_detail detail)
{
	return detail == PS_ANY_RULE || !(rule->flags & PS_RULE_DROPS);
}

static void fill_slot(struct ps_cache *c, const struct ps_arch *arch, const struct ps_place *place,
		      struct ps_rule *slot, enum ps_detail detail)
{
	const enum ps_end end = ps_cfi_row(place->cfi, arch, slot->vaddr, &c->scratch);
	const uint64_t vaddr = slot->vaddr;
	int32_t row;

	*slot = (struct ps_rule){ .vaddr = vaddr, .image = place->image + 1 };
	if (end != PS_END_NONE) {
		slot->flags = PS_RULE_END;
		slot->cfa_reg = (uint8_t)end;
		return;
	}
	if (ps_rule_make(&c->scratch, arch, slot) && is_enough(slot, detail))
		return;
	row = keep_row(c);	/* may clear all slots */
	*slot = (struct ps_rule){ .vaddr = vaddr, .cfa_offset = row, .flags = PS_RULE_ROW };
	if (row != IN_SCRATCH)
		slot->image = place->image + 1;
}

const struct ps_rule *ps_cache_rule(struct ps_cache *c, const struct ps_arch *arch,
				    const struct ps_place *place, uint64_t vaddr,
				    enum ps_detail detail)
{
	struct ps_rule *slot = find_slot(c, place->image, vaddr);

	if (slot->vaddr == vaddr && slot->image == place->image + 1 && is_enough(slot, detail))
		return slot;
	slot->vaddr = vaddr;
	fill_slot(c, arch, place, slot, detail);
	return slot;
}
