/* calltree.c - stacks merged into a tree: a node is a frame below another node. */
#include "calltree/calltree.h"

struct key {
	uint32_t parent, frame;
};

static bool is_same_node(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_node *have = &((const struct pp_tree *)ctx)->nodes[id];
	const struct key *want = key;

	return have->parent == want->parent && have->frame == want->frame;
}

uint32_t pp_tree_child(struct pp_tree *t, struct pp_memory *m, uint32_t parent, uint32_t frame)
{
	const struct key key = { parent, frame };
	struct pp_node *nodes;
	uint32_t hash, found;

	/* mostly the node that was added right after its parent, which is near in memory */
	if (parent != PP_NONE && parent + 1 < t->nr && is_same_node(t, parent + 1, &key))
		return parent + 1;
	hash = (uint32_t)pp_index_hash(&t->index, (uint64_t)parent << 32 | frame);
	found = pp_index_find(&t->index, hash, t, &key, is_same_node);
	if (found != PP_NONE)
		return found;
	nodes = pp_memory_grow(m, t->nodes, &t->capacity, t->nr + 1, sizeof(*nodes));
	if (!nodes)
		return PP_NONE;
	t->nodes = nodes;
	if (t->nr >= PP_NONE - 1 || pp_index_add(&t->index, m, hash, (uint32_t)t->nr))
		return PP_NONE;
	t->nodes[t->nr] = (struct pp_node){ .parent = parent, .frame = frame };
	return (uint32_t)t->nr++;
}

void pp_tree_free(struct pp_tree *t, struct pp_memory *m)
{
	pp_memory_free(m, t->nodes, t->capacity, sizeof(*t->nodes));
	pp_index_free(&t->index, m);
	*t = (struct pp_tree){ 0 };
}
