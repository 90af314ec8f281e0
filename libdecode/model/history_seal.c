/* history_seal.c - orders the changes by their moments and replays them. */
#include "model/history.h"
#include "model/history_sort.h"

/* Returns what orders a change: its time, or its offset where the side-band has no times. Records
 * that were synthesized for what existed before have the time 0, or none. */
static uint64_t key_of(const struct pd_history *h, const struct pd_change *c)
{
	if (!h->has_times)
		return c->offset;
	return c->time == PD_NO_TIME ? 0 : c->time;
}

/* Fills in keys and order. */
static int order_changes(struct pd_history *h)
{
	const struct pd_change *changes = h->changes.items;
	const uint32_t n = h->changes.nr;
	struct pd_pair *pairs = pd_budget_alloc(&h->budget, 2 * (size_t)n * sizeof(*pairs));
	struct pd_pair *sorted;
	uint64_t *keys = pd_array_reset(&h->keys, n);
	uint32_t *order = pd_array_reset(&h->order, n);

	if (!pairs || (n && (!keys || !order))) {
		pd_budget_free(&h->budget, pairs, 2 * (size_t)n * sizeof(*pairs));
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = (struct pd_pair){ key_of(h, &changes[i]), i };
	sorted = pd_pairs_sort(pairs, pairs + n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pd_change *c = &changes[sorted[i].value];

		keys[i] = sorted[i].key;
		order[i] = sorted[i].value;
		if (c->kind == PD_CHANGE_MAP)
			pd_map_at(h, c->item)->rank = i + 1;
	}
	pd_budget_free(&h->budget, pairs, 2 * (size_t)n * sizeof(*pairs));
	return 0;
}

/* Drops the last half of the changes: the replay of all does not fit. */
static void drop_half(struct pd_history *h)
{
	const struct pd_change *changes = h->changes.items;
	const uint32_t left = h->changes.nr / 2;

	for (uint32_t i = left; i < h->changes.nr; i++)
		if (changes[i].kind == PD_CHANGE_MAP && changes[i].item < h->maps.nr)
			h->maps.nr = changes[i].item;
	h->left_out += h->changes.nr - left;
	h->changes.nr = left;
}

int pd_history_replay(struct pd_history *h, struct pd_error *e)
{
	bool was_limited = h->is_limited;

	h->is_sealed = true;
	h->budget.limit = h->memory_limit;
	while (!h->live && (order_changes(h) || pd_history_replay_tasks(h) ||
			    pd_history_replay_spaces(h))) {
		pd_history_forget_replay(h);
		h->is_limited = true;
		if (!h->changes.nr)
			break;
		drop_half(h);
	}
	pd_history_apply_build_ids(h);
	pd_history_apply_programs(h);
	if (h->is_limited == was_limited)
		return 0;
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED,
				.text = "the memory limit is too low for the history" };
	return -1;
}
