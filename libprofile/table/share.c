/* share.c - the share of the samples that have a function in their stacks. */
#include "encoding/out.h"
#include "merge/pattern.h"

/* Returns the node after all that is below `at`, or PP_NONE. */
static uint32_t next_beside(const struct pp_profile *p, uint32_t root, uint32_t at)
{
	while (at != root && p->merged[at].next == PP_NONE)
		at = p->merged[at].parent;
	return at == root ? PP_NONE : p->merged[at].next;
}

double pp_share(const struct pp_profile *p, size_t event, const char *glob, enum pp_measure by)
{
	uint64_t all, sum = 0;
	struct pp_pattern pattern;
	uint32_t root, at;

	if (!p || !p->merged || !glob || event >= p->nr_events)
		return 0;
	pattern = pp_pattern_of(p, glob);
	root = at = p->events[event].merged;
	if (root == PP_NONE)
		return 0;
	all = pp_total(&p->merged[root], by);
	/* functions below a match do not count again */
	while (at != PP_NONE) {
		const bool is_match = pp_pattern_names(&pattern, p, p->merged[at].function);

		sum += is_match ? pp_total(&p->merged[at], by) : 0;
		at = is_match ? next_beside(p, root, at) : pp_next_below(p, root, at);
	}
	return all ? 100.0 * (double)sum / (double)all : 0;
}
