/* leaders.c - which event leads the group of each event: feature GROUP_DESC. */
#include "pass/leaders.h"

static void append_leader(struct pd_buf *leaders, int32_t leader)
{
	pd_buf_append(leaders, &leader, sizeof(leader));
}

static size_t count_leaders(const struct pd_buf *leaders)
{
	return leaders->size / sizeof(int32_t);
}

/* Groups follow each other; one that does not is none. */
static void append_group(struct pd_buf *leaders, const struct pd_item *group, size_t nr_events)
{
	const struct pd_item *first = pd_item_get(group, "leader_idx"),
			     *members = pd_item_get(group, "nr_members");

	if (!first || !members || first->number < count_leaders(leaders) ||
	    first->number >= nr_events)
		return;
	while (count_leaders(leaders) < first->number && !leaders->failed)
		append_leader(leaders, -1);
	for (uint64_t n = members->number; n && count_leaders(leaders) < nr_events; n--) {
		append_leader(leaders, (int32_t)first->number);
		if (leaders->failed)
			return;
	}
}

void pc_leaders_learn(struct pd_buf *leaders, struct pd_tree *tree, struct pd_reader *r)
{
	const size_t nr_events = pd_reader_nr_attrs(r);
	struct pd_error e;
	const struct pd_item *root = pd_tree_read_feature(tree, r, PD_FEATURE_GROUP_DESC, &e),
			     *groups = pd_item_get(root, "GROUP_DESC"), *group = NULL;

	while ((group = pd_item_next(groups, group)))
		append_group(leaders, group, nr_events);
}

void pc_leaders_set(const struct pd_buf *leaders, size_t event, struct pc_batch *events)
{
	const int32_t *of = (const int32_t *)(const void *)leaders->data;

	if (event < count_leaders(leaders) && of[event] >= 0)
		pc_set_int(events, PC_EVENTS_GROUP_LEADER, of[event]);
}
