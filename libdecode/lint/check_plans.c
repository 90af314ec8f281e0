/* check_plans.c - plans made of the tables: every name that they use is a number that is known in
 * time.
 */
#include "lint/check_tables.h"

#include "plan/plan.h"

struct planned {
	struct pd_check *c;
	enum pd_check_misc has_misc;
};

static void check_slot(const struct planned *p, const struct pd_op *op, const char *sibling,
		       int slot)
{
	if (slot < 0)
		pd_check_complain(p->c, op->field->name, "there is no %s", sibling);
	else if (slot == PD_MISC_SLOT && p->has_misc == PD_CHECK_NO_MISC)
		pd_check_complain(p->c, op->field->name, "there is no header with %s", sibling);
}

static void check_list(const struct planned *p, const struct pd_op_list *list);

static void check_op(const struct planned *p, const struct pd_op *op)
{
	const struct pd_field *row = op->field;

	if (row->when.sibling && op->on != PD_ALWAYS)
		check_slot(p, op, row->when.sibling, op->when_slot);
	if (row->count.sibling)
		check_slot(p, op, row->count.sibling, op->count_slot);
	if (row->count.by)
		check_slot(p, op, row->count.by, op->by_slot);
	if (row->extent.sibling)
		check_slot(p, op, row->extent.sibling, op->extent_slot);
	if (op->slot >= 0 && op->kind != PD_UINT)
		pd_check_complain(p->c, row->name, "other rows use its value, but it is no number");
	if (op->list)
		check_list(p, op->list);
}

static void check_list(const struct planned *p, const struct pd_op_list *list)
{
	for (uint32_t i = 0; i < list->nr_forward_refs; i++)
		if (list->forward_refs[i].offset == PD_VARIABLE)
			pd_check_complain(p->c, list->forward_refs[i].op->field->name,
					  "is needed by an earlier row, but its offset is not "
					  "fixed");
	for (uint32_t i = 0; i < list->nr_ops; i++)
		check_op(p, &list->ops[i]);
}

static void check_plan(const struct planned *p, const struct pd_field *rows,
		       const struct pd_facts *facts)
{
	struct pd_budget budget = { .limit = 16u << 20 };
	struct pd_plan *plan = pd_plan_compile(rows, facts, &budget);

	if (!plan) {
		pd_check_complain(p->c, "", "can't be compiled");
		return;
	}
	check_list(p, plan->list);
	if (plan->nr_slots >= PD_SLOTS)
		pd_check_complain(p->c, "", "takes all %d slots", PD_SLOTS);
	pd_plan_free(plan);
}

void pd_check_plans(struct pd_check *c, const struct pd_field *rows, enum pd_check_misc has_misc)
{
	const struct planned p = { c, has_misc };
	struct pd_facts facts = { .cpus_available = 1 };
	const size_t before = c->complaints;

	/* a wrong row affects many plans: report only the first */
	for (uint64_t group = 0; group < 2 && c->complaints == before; group++) {
		for (unsigned int bit = 0; bit < 64 && c->complaints == before; bit++) {
			facts.sample_type = 1ull << bit;
			facts.read_format = (facts.sample_type & ~8ull) | group << 3;
			facts.branch_sample_type = facts.regs_user = facts.regs_intr =
				facts.sample_type;
			check_plan(&p, rows, &facts);
		}
		facts.sample_type = facts.branch_sample_type = facts.regs_user = facts.regs_intr =
			UINT64_MAX;
		facts.read_format = group ? UINT64_MAX : ~8ull;
		if (c->complaints == before)
			check_plan(&p, rows, &facts);
	}
}
