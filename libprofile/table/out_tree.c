/* out_tree.c - the calls of the whole recording, indented. */
#include "table/branches.h"

int pp_write_tree(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	const uint32_t root = p->events[out->o.event].merged;
	const struct pp_branches b = {
		.out = out, .nodes = p->merged, .min_permyriad = out->o.min_permyriad,
		.all = pp_total(&p->merged[root], out->o.measure),
		.is_upward = p->direction == PP_FROM_LEAF,
	};

	pp_put_summary(out);
	pp_put_text(out, p->direction == PP_FROM_LEAF ? "\n   total  callers\n" :
						       "\n   total  calls\n");
	return pp_branches_put(&b, root);
}
