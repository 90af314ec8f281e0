/* history_spaces.c - the address spaces of processes, and what a child shares with its parent. */
#include "model/history_ranked.h"

/* Spaces of a chain that have maps of their own. The next one gets a copy, so that a lookup takes
 * few steps. */
#define MAX_DEPTH 16
#define COPIES_PER_CHANGE 64

static uint64_t key_of(const struct pd_history *h, const struct pd_change *c)
{
	const struct pd_learned_map *m = c->kind == PD_CHANGE_MAP ? pd_map_at(h, c->item) : NULL;

	return m ? pd_space_key(m->machine, m->space_of, m->pid) :
		   pd_space_key(c->machine, PD_SPACE_OF_PROCESS, c->pid);
}

static struct pd_space *begin_space(struct pd_history *h, uint64_t key, uint32_t from)
{
	struct pd_space *s = pd_array_add(&h->spaces, 1);

	if (s)
		*s = (struct pd_space){ .pid = (uint32_t)key, .of = key >> 32 & 7,
					.machine = (uint8_t)(key >> 35), .from = from,
					.parent = PD_NOTHING, .first = h->space_maps.nr };
	return s;
}

/* Returns whether a process begins. Threads share their process's space. */
static bool is_fork(const struct pd_change *c)
{
	return c->kind == PD_CHANGE_FORK && c->pid != c->ppid;
}

static bool begins_space(const struct pd_change *c)
{
	return is_fork(c) || c->kind == PD_CHANGE_EXEC ||
	       (c->kind == PD_CHANGE_THERE && c->pid != c->ppid);
}

/* Applies a change to the last space of its process, or NULL. */
static int group_change(struct pd_history *h, struct pd_space *s, uint64_t key, uint32_t rank)
{
	const struct pd_change *c = pd_change_at(h, rank);
	uint32_t *map;

	if (!s && c->kind == PD_CHANGE_THERE)
		return begin_space(h, key, 0) ? 0 : -1;
	if (!s && !is_fork(c)) {	/* was there before */
		s = begin_space(h, key, 0);
		if (!s)
			return -1;
	}
	if (begins_space(c))
		return begin_space(h, key, rank) ? 0 : -1;
	if (c->kind != PD_CHANGE_MAP)
		return 0;
	map = pd_array_add(&h->space_maps, 1);
	if (!map)
		return -1;
	*map = c->item;
	s->count++;
	return 0;
}

/* Returns which space a change concerns. */
static uint64_t space_of(const struct pd_history *h, uint32_t rank)
{
	const struct pd_change *c = pd_change_at(h, rank);

	return c->is_minor ? PD_NO_KEY : key_of(h, c);
}

/* Makes the spaces, ordered by process and beginning, with their maps. */
static int group_by_space(struct pd_history *h)
{
	uint64_t last_key = PD_NO_KEY;
	struct pd_ranked by_space;
	int ret = 0;

	if (pd_ranked_make(h, &by_space, space_of))
		return -1;
	for (uint32_t i = 0; i < by_space.nr && !ret; i++) {
		const uint32_t rank = pd_ranked_at(&by_space, i);
		const uint64_t key = space_of(h, rank);
		struct pd_space *last =
			key == last_key ? pd_space_at(h, h->spaces.nr - 1) : NULL;

		ret = group_change(h, last, key, rank);
		last_key = key;
	}
	pd_ranked_free(h, &by_space);
	pd_array_trim(&h->spaces);
	return ret;
}

uint32_t pd_history_find_space(const struct pd_history *h, uint64_t key, uint32_t rank)
{
	const struct pd_space *spaces = h->spaces.items;
	uint32_t low = 0, n = h->spaces.nr;

	if (key <= UINT32_MAX)
		pd_key_index_narrow(&h->space_of, (uint32_t)key, &low, &n);
	else
		pd_key_index_skip(&h->space_of, &low, &n);
	while (n) {
		const uint32_t half = n / 2;
		const struct pd_space *s = &spaces[low + half];

		const uint64_t own = pd_key_of_space(s);

		if (own < key || (own == key && s->from <= rank)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low && pd_key_of_space(&spaces[low - 1]) == key ? low - 1 : PD_NOTHING;
}

/* Returns whether a space, whose pieces are made, has maps of its own at a rank. */
static bool has_maps(const struct pd_space *s, uint32_t rank)
{
	return s->count && s->own_from <= rank;
}

/* Sets what a child has of its parent: a reference to the nearest space that has maps, or a copy
 * of what is visible there. */
static int share_parent(struct pd_history *h, struct pd_map_builder *b, struct pd_space *child,
			const struct pd_change *fork, uint32_t rank)
{
	const uint64_t key = pd_space_key(fork->machine, PD_SPACE_OF_PROCESS, fork->ppid);
	uint32_t at = pd_history_find_space(h, key, rank);
	const struct pd_space *parent;

	if (at == PD_NOTHING)
		return 0;
	parent = pd_space_at(h, at);
	if (!has_maps(parent, rank)) {
		child->flags = parent->flags & PD_SPACE_CUT;
		rank = parent->parent_rank;
		at = parent->parent;
		if (at == PD_NOTHING)
			return 0;
		parent = pd_space_at(h, at);
	}
	if (parent->depth + 1 < MAX_DEPTH) {
		child->parent = at;
		child->parent_rank = rank;
		child->depth = (uint8_t)(parent->depth + 1);
		child->flags = parent->flags & PD_SPACE_CUT;
		return 0;
	}
	if (h->budget.used > h->budget.limit / 2 ||
	    h->copied / COPIES_PER_CHANGE > h->changes.nr) {
		child->flags |= PD_SPACE_CUT;
		h->lacks_memory = true;
		return 0;
	}
	child->flags = parent->flags & PD_SPACE_CUT;
	return pd_map_builder_copy(b, child->from, at, rank);
}

/* Makes the pieces of a space. `fork` is the change that began it, or NULL. */
static int build_space(struct pd_history *h, struct pd_map_builder *b, struct pd_space *s,
		       const struct pd_change *fork, uint32_t rank)
{
	if (fork && share_parent(h, b, s, fork, rank))
		return -1;
	return pd_map_builder_build(b, s);
}

/* A parent's pieces are made before its children's: spaces are built in the order in which they
 * begin. */
static int build_spaces(struct pd_history *h, struct pd_map_builder *b)
{
	for (uint32_t i = 0; i < h->spaces.nr; i++)
		if (!pd_space_at(h, i)->from && build_space(h, b, pd_space_at(h, i), NULL, 0))
			return -1;
	for (uint32_t rank = 1; rank <= h->changes.nr; rank++) {
		const struct pd_change *c = pd_change_at(h, rank);
		struct pd_space *s;
		uint32_t at;

		if (!begins_space(c))
			continue;
		at = pd_history_find_space(
			h, pd_space_key(c->machine, PD_SPACE_OF_PROCESS, c->pid), rank);
		s = pd_space_at(h, at);
		if (s->from != rank)	/* began before the recording */
			continue;
		if (build_space(h, b, s, c->kind == PD_CHANGE_FORK ? c : NULL, rank))
			return -1;
	}
	return 0;
}

static uint32_t pid_of(const void *ctx, uint32_t i)
{
	return pd_space_at(ctx, i)->pid;
}

/* Spaces of the host's processes are the first. */
static void index_spaces(struct pd_history *h)
{
	uint32_t n = h->spaces.nr;

	while (n && pd_key_of_space(pd_space_at(h, n - 1)) > UINT32_MAX)
		n--;
	pd_key_index_make(&h->space_of, n, pid_of, h);
}

int pd_history_replay_spaces(struct pd_history *h)
{
	struct pd_map_builder *b;
	int ret;

	if (group_by_space(h))
		return -1;
	index_spaces(h);
	b = pd_map_builder_new(h);
	ret = b ? build_spaces(h, b) : -1;
	pd_map_builder_free(b);
	pd_array_free(&h->space_maps);
	return ret;
}
