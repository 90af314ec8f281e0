/* history_plans.c - reads the fields that a history needs: for each plan of a record's body, finds
 * once where they are. */
#include "model/history_plans.h"

#include <stdlib.h>
#include <string.h>

#define NR_PLANS 16

static const char *const names[PD_NR_SIDE_NUMBERS] = {
	[PD_SIDE_PID] = "pid", [PD_SIDE_TID] = "tid", [PD_SIDE_PPID] = "ppid",
	[PD_SIDE_PTID] = "ptid", [PD_SIDE_TIME] = "time", [PD_SIDE_ADDR] = "addr",
	[PD_SIDE_LEN] = "len", [PD_SIDE_PGOFF] = "pgoff", [PD_SIDE_MAJ] = "maj",
	[PD_SIDE_MIN] = "min", [PD_SIDE_INO] = "ino",
	[PD_SIDE_INO_GENERATION] = "ino_generation",
	[PD_SIDE_BUILD_ID_SIZE] = "build_id_size", [PD_SIDE_PROT] = "prot",
	[PD_SIDE_FLAGS] = "flags", [PD_SIDE_KSYM_TYPE] = "ksym_type", [PD_SIDE_ID] = "id",
	[PD_SIDE_BPF_TYPE] = "bpf_type", [PD_SIDE_LOST] = "lost",
};

struct load {
	const struct pd_op *op;
	uint32_t from;		/* offset of its list in the body */
	uint8_t which;
	bool is_optional;	/* in pd_op_list.optional */
};

struct loads {
	const struct pd_plan *plan;
	uint32_t nr;
	struct load loads[PD_NR_SIDE_NUMBERS];
	const struct pd_op *build_id;
	bool has_text;
};

struct pd_history_plans {
	uint32_t next;		/* to be replaced */
	struct loads of[NR_PLANS];
};

struct pd_history_plans *pd_history_plans_new(void)
{
	return calloc(1, sizeof(struct pd_history_plans));
}

void pd_history_plans_free(struct pd_history_plans *p)
{
	free(p);
}

static void add_load(struct loads *l, const struct pd_op *op, uint32_t from, bool is_optional)
{
	for (unsigned int i = 0; i < PD_NR_SIDE_NUMBERS; i++)
		if (strcmp(op->field->name, names[i]) == 0 && l->nr < PD_NR_SIDE_NUMBERS)
			l->loads[l->nr++] = (struct load){ op, from, (uint8_t)i, is_optional };
}

static void find_loads(struct loads *l, const struct pd_plan *plan)
{
	const struct pd_op_list *list = plan->list;
	const struct pd_op *op, *last = list->ops + list->nr_ops - 1;

	*l = (struct loads){ .plan = plan, .has_text = list->tail == PD_TAIL_TEXT };
	for (op = list->ops; op <= last; op++) {
		if (pd_op_is_fixed(op))
			add_load(l, op, 0, false);
		else if ((op->kind == PD_AREA || op->kind == PD_BYTES) &&
			 op->field->role == PD_ROLE_BUILD_ID && op->offset != PD_VARIABLE &&
			 op->size != PD_VARIABLE)
			l->build_id = op;
	}
	if (!list->optional)
		return;
	for (uint32_t i = 0; i < list->optional->list->nr_ops; i++)
		if (pd_op_is_fixed(&list->optional->list->ops[i]))
			add_load(l, &list->optional->list->ops[i], list->optional->offset, true);
}

static const struct loads *loads_of(struct pd_history_plans *p, const struct pd_plan *plan)
{
	struct loads *l;

	for (uint32_t i = 0; i < NR_PLANS; i++)
		if (p->of[i].plan == plan)
			return &p->of[i];
	l = &p->of[p->next++ % NR_PLANS];
	find_loads(l, plan);
	return l;
}

/* The bytes of an op at a fixed offset; none if the body ends before. */
static struct pd_bytes bytes_of(const struct pd_op *op, struct pd_bytes body)
{
	struct pd_cursor c = pd_cursor(body, PD_SWAP_NO);
	struct pd_bytes bytes = { NULL, 0 };

	if (op && pd_take(&c, op->offset))
		pd_take_bytes(&c, op->size, &bytes);
	return bytes;
}

bool pd_side_band_read(struct pd_history_plans *p, const struct pd_record *r,
		       struct pd_side_band *out)
{
	const struct pd_plan *plan = r->plan;
	const enum pd_swap swap = r->session->swap;
	const struct loads *l;
	size_t tail = 0;

	out->text = (struct pd_bytes){ NULL, 0 };
	if (!plan || r->extent.code != PD_OK || r->extent.nr_ops != plan->list->nr_ops)
		return false;
	l = loads_of(p, plan);
	if (l->has_text) {
		tail = pd_tail_at(plan->list, r->body, swap);
		if (tail > r->body.size)
			return false;
		out->text = (struct pd_bytes){ r->body.data + tail, r->body.size - tail };
		out->text.size = pd_text_length(out->text);
	}
	memset(out->n, 0, sizeof(out->n));
	out->has = 0;
	for (const struct load *load = l->loads; load < l->loads + l->nr; load++) {
		if (load->is_optional && tail == plan->list->optional->offset)
			continue;
		if (r->body.size < load->from + load->op->offset + load->op->width)
			return false;
		out->n[load->which] = pd_op_value(load->op, r->body.data + load->from, swap);
		out->has |= 1u << load->which;
	}
	out->build_id = bytes_of(l->build_id, r->body);
	return true;
}
