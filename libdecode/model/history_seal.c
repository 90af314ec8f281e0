/* history_seal.c - ends the learning: orders the changes and replays them. */
#include "model/history.h"

/* Removes the maps that no change refers to. */
static void drop_maps(struct pd_history *h)
{
	struct pd_change *changes = h->changes.items;
	struct pd_learned_map *maps = h->maps.items;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < h->maps.nr; i++)
		maps[i].until = PD_NOTHING;
	for (uint32_t i = 0; i < h->changes.nr; i++)
		if (changes[i].kind == PD_CHANGE_MAP)
			maps[changes[i].item].until = 0;
	for (uint32_t i = 0; i < h->maps.nr; i++)
		if (!maps[i].until)
			maps[i].until = nr++;	/* its new number */
	for (uint32_t i = 0; i < h->changes.nr; i++)
		if (changes[i].kind == PD_CHANGE_MAP)
			changes[i].item = maps[changes[i].item].until;
	for (uint32_t i = 0; i < h->maps.nr; i++)
		if (maps[i].until != PD_NOTHING)
			maps[maps[i].until] = maps[i];
	for (uint32_t i = 0; i < nr; i++)
		maps[i].until = 0;
	h->maps.nr = nr;
}

/* Drops the last half of the changes: the replay of all does not fit. */
static void drop_half(struct pd_history *h)
{
	const uint32_t left = h->changes.nr / 2;

	h->left_out += h->changes.nr - left;
	h->changes.nr = left;
	h->inner.nr = h->inner.nr < left ? h->inner.nr : left;
	drop_maps(h);
}

int pd_history_replay(struct pd_history *h, struct pd_error *e)
{
	bool was_limited = h->is_limited;

	h->is_sealed = true;
	h->budget.limit = h->memory_limit;
	pd_array_trim(&h->changes);
	pd_array_trim(&h->maps);
	while (!h->live && (pd_history_order_changes(h) || pd_history_replay_tasks(h) ||
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
