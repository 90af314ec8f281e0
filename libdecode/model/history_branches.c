/* history_branches.c - the branches of a sample: see history_branches.h. */
#include "model/history_branches.h"

#include <string.h>

#include "pd/enums.h"
#include "pd/history.h"

struct collector {
	pd_branch_fn *take;
	void *ctx;
	int64_t hw_idx;
	size_t nr;
	bool is_inside;			/* the array of entries */
	struct pd_branch branch;
};

static void enter_entries(void *ctx, const struct pd_field *f, size_t n)
{
	struct collector *c = ctx;

	(void)n;
	c->is_inside |= strcmp(pd_field_name(f), "entries") == 0;
}

static void leave_entries(void *ctx, const struct pd_field *f)
{
	struct collector *c = ctx;

	(void)f;
	c->is_inside = false;
}

/* The flags are the last of an entry. */
static void see_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct collector *c = ctx;
	const char *name = pd_field_name(f);

	if (!c->is_inside) {
		if (strcmp(name, "hw_idx") == 0)
			c->hw_idx = (int64_t)value;
	} else if (strcmp(name, "from") == 0) {
		c->branch.from = value;
	} else if (strcmp(name, "to") == 0) {
		c->branch.to = value;
	} else {
		c->branch.flags = value;
		c->take(c->ctx, &c->branch);
		c->nr++;
	}
}

size_t pd_branches_each(const struct pd_record *sample, pd_branch_fn *take, void *ctx,
			int64_t *hw_idx)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = see_number,
					     .enter_array = enter_entries,
					     .leave_array = leave_entries };
	struct collector c = { .take = take, .ctx = ctx, .hw_idx = -1 };

	pd_record_visit(sample, &v, &c);
	*hw_idx = c.hw_idx;
	return c.nr;
}

bool pd_attr_has_call_stacks(const struct pd_attr *a)
{
	return a && a->sample_type & PD_SAMPLE_BRANCH_STACK &&
	       a->branch_sample_type & PD_SAMPLE_BRANCH_CALL_STACK;
}
