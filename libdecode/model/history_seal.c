/* history_seal.c - ends the learning: orders the changes and replays them. */
#include "model/history.h"

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
