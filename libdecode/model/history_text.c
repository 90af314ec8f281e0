/* history_text.c - names, namespaces and other bytes that a recording repeats, each kept once. */
#include <string.h>

#include "base/hash.h"
#include "model/history.h"

static bool is_kept(const struct pd_kept *k, struct pd_bytes bytes)
{
	return k->size == bytes.size && (!k->size || memcmp(k->bytes, bytes.data, k->size) == 0);
}

struct pd_kept *pd_history_keep(struct pd_history *h, struct pd_map *m, struct pd_bytes bytes)
{
	const uint64_t hash = pd_hash_bytes(h->seed, bytes.data, bytes.size);
	struct pd_kept *first = pd_map_find(m, hash), *k;

	for (k = first; k; k = k->same_hash)
		if (is_kept(k, bytes))
			return k;
	k = pd_arena_alloc(&h->arena, sizeof(*k) + bytes.size + 1);
	if (!k)
		return NULL;
	k->item = PD_NOTHING;
	k->size = (uint32_t)bytes.size;
	if (bytes.size)
		memcpy(k->bytes, bytes.data, bytes.size);
	if (first) {
		k->same_hash = first->same_hash;
		first->same_hash = k;
	} else if (pd_map_add(m, hash, k)) {
		return NULL;
	}
	return k;
}

/* Returns the number of what is kept, in the array that lists it. */
static int64_t number_of(struct pd_kept *k, struct pd_array *list)
{
	const void **item;

	if (!k)
		return -1;
	if (k->item == PD_NOTHING) {
		item = pd_array_add(list, 1);
		if (!item)
			return -1;
		*item = k->bytes;
		k->item = list->nr - 1;
	}
	return k->item;
}

int64_t pd_history_add_comm(struct pd_history *h, struct pd_bytes comm)
{
	return number_of(pd_history_keep(h, &h->comm_of, comm), &h->comms);
}

int64_t pd_history_add_namespaces(struct pd_history *h, const struct pd_namespaces *ns)
{
	const struct pd_bytes bytes = { (const uint8_t *)ns, sizeof(*ns) };
	struct pd_kept *k = pd_history_keep(h, &h->namespaces_of, bytes);
	struct pd_namespaces *copy;

	if (!k)
		return -1;
	if (!k->value) {	/* aligned, unlike the bytes */
		copy = pd_arena_alloc(&h->arena, sizeof(*copy));
		if (!copy)
			return -1;
		*copy = *ns;
		k->value = copy;
	}
	if (k->item == PD_NOTHING) {
		const void **item = pd_array_add(&h->namespaces, 1);

		if (!item)
			return -1;
		*item = k->value;
		k->item = h->namespaces.nr - 1;
	}
	return k->item;
}

int pd_history_add_cgroup(struct pd_history *h, uint64_t id, struct pd_bytes path)
{
	struct pd_kept *k = pd_history_keep(h, &h->path_of, path), **slot;

	if (!k)
		return -1;
	slot = pd_map_find(&h->cgroups, id);
	if (!slot) {
		slot = pd_arena_alloc(&h->arena, sizeof(struct pd_kept *));
		if (!slot || pd_map_add(&h->cgroups, id, slot))
			return -1;
	}
	*slot = k;
	return 0;
}

const char *pd_history_cgroup(const struct pd_history *h, uint64_t id)
{
	struct pd_kept *const *slot = h ? pd_map_find(&h->cgroups, id) : NULL;

	return slot ? (const char *)(*slot)->bytes : NULL;
}
