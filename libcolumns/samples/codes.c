/* codes.c - numbers for the code of JIT compilers: see codes.h. */
#include "samples/codes.h"

static const struct pc_code *code_at(const struct pc_codes *c, uint32_t number)
{
	return (const struct pc_code *)(const void *)c->items.data + number;
}

static bool is_same_code(const void *ctx, uint32_t number, const void *key)
{
	const struct pc_code *have = code_at(ctx, number), *want = key;

	return have->image == want->image && have->pid == want->pid && have->since == want->since;
}

uint32_t pc_code_number(struct pc_codes *c, const struct pc_code *code)
{
	const uint64_t where = (uint64_t)code->image << 32 | (uint32_t)code->pid;
	const uint32_t hash = (uint32_t)pd_hash_mix(pd_hash_mix(pc_index_seed(&c->index), where),
						    code->since);
	const uint32_t found = pc_index_find(&c->index, hash, is_same_code, c, code);
	const size_t nr = c->items.size / sizeof(*code);

	if (found != PC_NONE)
		return found;
	pd_buf_append(&c->items, code, sizeof(*code));
	if (c->items.failed || nr >= INT32_MAX || pc_index_add(&c->index, hash, (uint32_t)nr))
		return PC_NONE;
	return (uint32_t)nr;
}

uint32_t pc_code_image(const struct pc_codes *c, uint32_t number)
{
	return code_at(c, number)->image;
}

void pc_codes_free(struct pc_codes *c)
{
	pc_index_free(&c->index);
	pd_buf_free(&c->items);
}
