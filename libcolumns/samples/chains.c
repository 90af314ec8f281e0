/* chains.c - numbers for frames and stacks, in the order of their first appearance. */
#include "samples/chains.h"

#include <string.h>

struct frames_key {
	const uint32_t *frames;
	size_t n;
};

void pc_chains_init(struct pc_chains *c, struct pd_budget *budget, uint64_t limit)
{
	*c = (struct pc_chains){ .frame_index.budget = budget, .stack_index.budget = budget,
				 .frames.budget = budget, .stacks.budget = budget,
				 .items.budget = budget, .limit = limit };
}

void pc_chains_free(struct pc_chains *c)
{
	pc_index_free(&c->frame_index);
	pc_index_free(&c->stack_index);
	pd_buf_free(&c->frames);
	pd_buf_free(&c->stacks);
	pd_buf_free(&c->items);
}

/* Returns all members but the offset. */
static uint64_t rest_of(const struct pc_frame *f)
{
	return (uint64_t)f->object << 32 | (uint32_t)f->kind << 24 | (uint32_t)f->cpumode << 16 |
	       (uint32_t)f->why << 8 | f->exact;
}

static bool are_equal(const struct pc_frame *a, const struct pc_frame *b)
{
	return a->offset == b->offset && rest_of(a) == rest_of(b);
}

static bool is_same_frame(const void *ctx, uint32_t id, const void *key)
{
	const struct pc_chains *c = ctx;

	return are_equal((const struct pc_frame *)(const void *)c->frames.data + id, key);
}

uint32_t pc_frame_hash(struct pc_chains *c, const struct pc_frame *f)
{
	return (uint32_t)pd_hash_mix(pd_hash_mix(pc_index_seed(&c->frame_index), f->offset),
				     rest_of(f));
}

uint32_t pc_frame_number(struct pc_chains *c, uint32_t hash, const struct pc_frame *f,
			 bool *is_new)
{
	const uint32_t found = pc_index_find(&c->frame_index, hash, is_same_frame, c, f);
	uint32_t place;

	*is_new = found == PC_NONE;
	if (!*is_new)
		return c->first_frame + found;
	place = (uint32_t)(c->frames.size / sizeof(*f));
	if (c->frames.size >= c->limit) {
		c->first_frame += place;
		c->frames.size = place = 0;
		pc_index_clear(&c->frame_index);
	}
	pd_buf_append(&c->frames, f, sizeof(*f));
	if (c->frames.failed || c->first_frame + place >= INT32_MAX ||
	    pc_index_add(&c->frame_index, hash, place))
		return PC_NONE;
	return c->first_frame + place;
}

static bool is_same_stack(const void *ctx, uint32_t id, const void *key)
{
	const struct pc_chains *c = ctx;
	const struct frames_key *want = key;
	const struct pc_stack_place *have =
		(const struct pc_stack_place *)(const void *)c->stacks.data + id;

	return have->count == want->n &&
	       (!want->n || memcmp(c->items.data + have->start * sizeof(uint32_t), want->frames,
				   want->n * sizeof(uint32_t)) == 0);
}

static void empty_stacks(struct pc_chains *c)
{
	c->first_stack += (uint32_t)(c->stacks.size / sizeof(struct pc_stack_place));
	c->stacks.size = c->items.size = 0;
	pc_index_clear(&c->stack_index);
}

uint32_t pc_stack_hash(struct pc_chains *c, const uint32_t *frames, size_t n)
{
	uint64_t hash = pc_index_seed(&c->stack_index) ^ n;

	for (size_t i = 0; i < n; i++)
		hash = pd_hash_mix(hash, frames[i]);
	return (uint32_t)hash;
}

uint32_t pc_stack_number(struct pc_chains *c, uint32_t hash, const uint32_t *frames, size_t n,
			 bool *is_new)
{
	const struct frames_key key = { frames, n };
	struct pc_stack_place new = { .count = n };
	const uint32_t found = pc_index_find(&c->stack_index, hash, is_same_stack, c, &key);
	uint32_t place;

	*is_new = found == PC_NONE;
	if (!*is_new)
		return c->first_stack + found;
	if (c->items.size + c->stacks.size >= c->limit)
		empty_stacks(c);
	new.start = c->items.size / sizeof(uint32_t);
	place = (uint32_t)(c->stacks.size / sizeof(new));
	pd_buf_append(&c->items, frames, n * sizeof(*frames));
	pd_buf_append(&c->stacks, &new, sizeof(new));
	if (c->items.failed || c->stacks.failed || c->first_stack + place >= INT32_MAX ||
	    pc_index_add(&c->stack_index, hash, place))
		return PC_NONE;
	return c->first_stack + place;
}
