/* plan.c - compile a layout for one event: drop rows that can't exist, flatten groups, resolve
 * names to slots.
 */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

struct compiler {
	struct pd_plan *plan;
	const struct pd_facts *facts;
};

/* Where a name is looked up: a list, the op that refers to it, and the outer lists. */
struct scope {
	const struct scope *outer;
	struct pd_op_list *list;
	uint32_t at;
};

enum verdict { DROP, KEEP, RUNTIME };

/* A body has no row named misc, so that name is the header's. */
static bool depends_on_known_misc(const struct pd_when *w, const struct pd_facts *f)
{
	return f->knows_misc && w->sibling && strcmp(w->sibling, "misc") == 0 && !w->left;
}

/* Decides a row's condition as far as the attr and misc determine it. */
static enum verdict decide_condition(const struct pd_when *w, const struct pd_facts *f)
{
	uint64_t bits;

	if (depends_on_known_misc(w, f))
		return pd_number_meets((uint8_t)w->on, w->value, f->misc) != w->unless ? KEEP :
			DROP;
	switch (w->on) {
	case PD_ALWAYS:
		return w->left ? RUNTIME : KEEP;
	case PD_ON_SAMPLE_TYPE:
		bits = f->sample_type;
		break;
	case PD_ON_READ_FORMAT:
		bits = f->read_format;
		break;
	case PD_ON_BRANCH_TYPE:
		bits = f->branch_sample_type;
		break;
	default:
		return RUNTIME;
	}
	return ((bits & w->value) != 0) != w->unless ? KEEP : DROP;
}

/* Returns whether the rows of a group join the outer list. */
static bool is_flattened(const struct pd_field *row, enum verdict v)
{
	return row->kind == PD_GROUP && v == KEEP && row->extent.from == PD_EXTENT_NONE;
}

static uint32_t count_rows(const struct pd_field *rows, const struct pd_facts *facts)
{
	uint32_t n = 0;

	for (; rows->kind != PD_END; rows++) {
		enum verdict v = decide_condition(&rows->when, facts);

		if (v == DROP)
			continue;
		n += is_flattened(rows, v) ? count_rows(rows->fields, facts) : 1;
	}
	return n;
}

static uint64_t register_mask(const struct pd_field *row, const struct pd_facts *f)
{
	return row->count.from == PD_COUNT_REGS_USER ? f->regs_user : f->regs_intr;
}

/* Returns the size of a row without inner rows, or PD_VARIABLE if the record determines it. */
static uint32_t leaf_size(const struct pd_field *row, const struct pd_facts *facts)
{
	switch (row->kind) {
	case PD_UINT:
	case PD_CHARS:
	case PD_AREA:
	case PD_LITERAL:
		return row->width;
	case PD_REGISTERS:
		return 8u * (uint32_t)__builtin_popcountll(register_mask(row, facts));
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
		if (row->count.from == PD_COUNT_FIXED)
			return (uint32_t)row->count.value;
		return PD_VARIABLE;
	default:
		return PD_VARIABLE;
	}
}

static void fill_op(struct pd_op *op, const struct pd_field *row, enum verdict v,
		    const struct pd_facts *facts)
{
	*op = (struct pd_op){
		.field = row, .kind = row->kind, .width = row->width,
		.on = v == RUNTIME ? (uint8_t)row->when.on : PD_ALWAYS,
		.left = row->when.left, .unless = row->when.unless, .when_value = row->when.value,
		.count_from = (uint8_t)row->count.from, .count_value = row->count.value,
		.size = leaf_size(row, facts), .offset = PD_VARIABLE,
		.slot = PD_NO_SLOT, .when_slot = PD_NO_SLOT, .count_slot = PD_NO_SLOT,
		.by_slot = PD_NO_SLOT, .extent_slot = PD_NO_SLOT,
	};
	if (op->count_from == PD_COUNT_CPUS) {
		op->count_from = PD_COUNT_FIXED;
		op->count_value = facts->cpus_available;
	}
}

static struct pd_op *fill_ops(struct pd_op *op, const struct pd_field *rows,
			      const struct compiler *c)
{
	for (; rows->kind != PD_END; rows++) {
		enum verdict v = decide_condition(&rows->when, c->facts);

		if (v == DROP)
			continue;
		if (is_flattened(rows, v)) {
			op = fill_ops(op, rows->fields, c);
			continue;
		}
		if (rows->when.on == PD_ON_VARIANT)
			c->plan->variants |= (unsigned int)rows->when.value;
		fill_op(op++, rows, v, c->facts);
	}
	return op;
}

/* Returns whether exactly one of two rows exists: the same condition, once with `unless`. */
static bool are_alternatives(const struct pd_op *a, const struct pd_op *b)
{
	const struct pd_when *w = &a->field->when, *x = &b->field->when;

	return a->on != PD_ALWAYS && a->on == b->on && a->unless != b->unless && !a->left &&
	       !b->left && w->value == x->value && w->sibling && x->sibling &&
	       strcmp(w->sibling, x->sibling) == 0 && a->size == b->size;
}

/* Sets constant offsets, and the size of the list if all are constant. */
static void set_offsets(struct pd_op_list *list)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < list->nr_ops; i++) {
		struct pd_op *op = &list->ops[i];
		bool pair = i + 1 < list->nr_ops && are_alternatives(op, op + 1);

		op->offset = at;
		if (pair)
			(++i, op + 1)->offset = at;
		if (op->size == PD_VARIABLE || at == PD_VARIABLE ||
		    (op->on != PD_ALWAYS && !pair) || op->left)
			at = PD_VARIABLE;
		else
			at += op->size;
	}
	list->size = at;
}

/* Counts the leading simple numbers, whose size walk.c checks at once. */
static void count_simple(struct pd_op_list *list)
{
	uint32_t i, size = 0;

	for (i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];
		bool simple = op->kind == PD_UINT ? op->field->show != PD_ORDER :
			     op->kind == PD_PAD && op->size != PD_VARIABLE;

		if (!simple || op->on != PD_ALWAYS || op->left)
			break;
		size += op->size;
	}
	list->nr_simple = i;
	list->simple_size = size;
}

/* Returns whether the op can't fail if there are enough bytes. */
static bool is_safe(const struct pd_op *op)
{
	switch (op->kind) {
	case PD_UINT:
		return op->field->show != PD_ORDER;
	case PD_PAD:
	case PD_CHARS:
	case PD_BYTES:
	case PD_TEXT:
	case PD_AREA:
		return op->size != PD_VARIABLE && op->count_from != PD_COUNT_INLINE;
	case PD_GROUP:
	case PD_STRUCT:
		if (op->size == PD_VARIABLE || op->field->extent.from != PD_EXTENT_NONE)
			return false;
		for (uint32_t i = 0; i < op->list->nr_ops; i++)
			if (!is_safe(&op->list->ops[i]))
				return false;
		return true;
	default:
		return false;
	}
}

/* Returns whether it is a number that other rows depend on, and that is stored as it is. */
static bool is_plain_number(const struct pd_op *op)
{
	return op->kind == PD_UINT && op->field->show != PD_ORDER && !op->field->msb_first &&
	       op->slot >= 0;
}

/* Returns whether it is a struct of a size, bytes of that size, and an optional pad. */
static bool is_sized(const struct pd_op *op)
{
	const struct pd_op_list *l = op->list;

	if (op->kind != PD_STRUCT || op->field->extent.from != PD_EXTENT_NONE || l->nr_ops < 2 ||
	    l->nr_ops > 3 || l->nr_forward_refs)
		return false;
	for (uint32_t i = 0; i < l->nr_ops; i++)
		if (l->ops[i].on != PD_ALWAYS || l->ops[i].left)
			return false;
	if (!is_plain_number(&l->ops[0]) || l->ops[1].kind != PD_BYTES ||
	    l->ops[1].count_from != PD_COUNT_SIBLING || l->ops[1].count_value ||
	    l->ops[1].count_slot != l->ops[0].slot)
		return false;
	return l->nr_ops == 2 ||
		(l->ops[2].kind == PD_PAD && l->ops[2].count_from == PD_COUNT_REST_MOD);
}

/* Returns whether it is a group of constant size under a test, at a fixed offset. */
static bool is_optional(const struct pd_op *op)
{
	return op->kind == PD_GROUP && op->on == PD_ON_TEST && !op->left &&
		op->offset != PD_VARIABLE && is_safe(op);
}

/* Finds lists that end with a text or with counted numbers: walk.c measures them without a walk. */
static void find_tail(struct pd_op_list *list)
{
	const struct pd_op *last = list->nr_ops ? &list->ops[list->nr_ops - 1] :
		NULL, *before = last;

	if (!last || last->on != PD_ALWAYS || last->left)
		return;
	if (last->kind == PD_CSTR && list->nr_ops > 1 && is_optional(last - 1))
		list->optional = before = last - 1;
	if (before->offset == PD_VARIABLE)
		return;
	for (const struct pd_op *op = list->ops; op < before; op++)
		if (!is_safe(op))
			return;
	if (last->kind == PD_CSTR)
		list->tail = PD_TAIL_TEXT;
	else if (last->kind == PD_NUMBERS && last->count_from == PD_COUNT_INLINE)
		list->tail = PD_TAIL_NUMBERS;
	else if (is_sized(last))
		list->tail = PD_TAIL_SIZED;
	list->is_simple = list->tail && list->nr_simple == (size_t)(before - list->ops) &&
			  (!list->optional ||
			   list->optional->list->nr_simple == list->optional->list->nr_ops);
}

static int8_t assign_slot(struct compiler *c, struct pd_op *op)
{
	if (op->slot == PD_NO_SLOT && c->plan->nr_slots < PD_SLOTS)
		op->slot = (int8_t)c->plan->nr_slots++;
	return op->slot;
}

static bool has_name(const struct pd_op *op, const char *name, size_t size)
{
	return strncmp(op->field->name, name, size) == 0 && op->field->name[size] == '\0';
}

/* Finds the nearest op of that name before `at`, or else the first one after it. */
static struct pd_op *find_near(struct pd_op_list *list, uint32_t at, const char *name, size_t size)
{
	for (uint32_t i = at; i-- > 0;)
		if (has_name(&list->ops[i], name, size))
			return &list->ops[i];
	for (uint32_t i = at + 1; i < list->nr_ops; i++)
		if (has_name(&list->ops[i], name, size))
			return &list->ops[i];
	return NULL;
}

static void add_forward_ref(struct pd_op_list *list, const struct pd_op *op)
{
	for (uint32_t i = 0; i < list->nr_forward_refs; i++)
		if (list->forward_refs[i].op == op)
			return;
	list->forward_refs[list->nr_forward_refs++] = (struct pd_forward_ref){ op, op->offset };
}

/* Returns the slot of a sibling, see pd_when. The lint checks that every name is found. */
static int8_t resolve_name(struct compiler *c, const struct scope *s, const char *name)
{
	const char *dot = strchr(name, '.');
	size_t size = dot ? (size_t)(dot - name) : strlen(name);

	for (; s; s = s->outer) {
		struct pd_op *op = find_near(s->list, s->at, name, size);

		if (!op)
			continue;
		if (dot)
			op = op->list ?
				find_near(op->list, op->list->nr_ops, dot + 1, strlen(dot + 1)) :
					NULL;
		else if (op > &s->list->ops[s->at])
			add_forward_ref(s->list, op);
		return op ? assign_slot(c, op) : PD_NO_SLOT;
	}
	return strcmp(name, "misc") == 0 ? PD_MISC_SLOT : PD_NO_SLOT;
}

static int name_registers(struct compiler *c, struct pd_op *op)
{
	uint64_t mask = register_mask(op->field, c->facts);
	const char **names = pd_arena_alloc(c->plan->arena, 64 * sizeof(*names));
	unsigned int n = 0;

	if (!names)
		return -1;
	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = pd_register_name(c->facts->arch, bit);
		char number[8];

		if (!(mask >> bit & 1))
			continue;
		if (!name)	/* unknown machine or register */
			name = pd_arena_text(c->plan->arena, number,
					     (size_t)snprintf(number, sizeof(number), "reg%u",
							      bit));
		if (!name)
			return -1;
		names[n++] = name;
	}
	op->names = names;
	return 0;
}

static struct pd_op_list *compile_list(struct compiler *c, const struct pd_field *rows,
				       const struct scope *outer);

static int compile_op(struct compiler *c, struct pd_op *op, const struct scope *scope)
{
	const struct pd_field *row = op->field;

	if (row->when.sibling && op->on != PD_ALWAYS)
		op->when_slot = resolve_name(c, scope, row->when.sibling);
	if (op->when_slot == PD_MISC_SLOT)
		c->plan->misc_bits |= op->on == PD_ON_MASK ? (uint16_t)op->when_value : UINT16_MAX;
	if (row->count.sibling)
		op->count_slot = resolve_name(c, scope, row->count.sibling);
	if (row->count.by)
		op->by_slot = resolve_name(c, scope, row->count.by);
	if (row->extent.from == PD_EXTENT_SIBLING)
		op->extent_slot = resolve_name(c, scope, row->extent.sibling);
	if (op->kind == PD_REGISTERS)
		return name_registers(c, op);
	if (!row->fields)
		return 0;
	op->list = compile_list(c, row->fields, scope);
	if (!op->list)
		return -1;
	if (row->extent.from == PD_EXTENT_OWN) {
		struct scope inside = { NULL, op->list, 0 };
		struct pd_op *own = find_near(op->list, op->list->nr_ops, row->extent.sibling,
					      strlen(row->extent.sibling));

		if (own) {
			op->extent_slot = assign_slot(c, own);
			add_forward_ref(inside.list, own);
		}
	} else if (op->kind != PD_ARRAY && row->extent.from == PD_EXTENT_NONE) {
		op->size = op->list->size;
	}
	return 0;
}

static struct pd_op_list *compile_list(struct compiler *c, const struct pd_field *rows,
				       const struct scope *outer)
{
	struct pd_op_list *list = pd_arena_alloc(c->plan->arena, sizeof(*list));
	uint32_t n = count_rows(rows, c->facts);

	if (!list)
		return NULL;
	list->nr_ops = n;
	list->ops = pd_arena_alloc(c->plan->arena, n * sizeof(*list->ops));
	list->forward_refs = pd_arena_alloc(c->plan->arena, n * sizeof(*list->forward_refs));
	if (!list->ops || !list->forward_refs)
		return NULL;
	fill_ops(list->ops, rows, c);
	set_offsets(list);
	for (uint32_t i = 0; i < n; i++)
		if (compile_op(c, &list->ops[i], &(struct scope){ outer, list, i }))
			return NULL;
	set_offsets(list);
	count_simple(list);
	find_tail(list);
	return list;
}

/* Collects the simple ops that need processing, here and in inner lists. Slots are known only after
 * all rows are compiled. */
static int index_special(struct pd_plan *plan, struct pd_op_list *list)
{
	list->special = pd_arena_alloc(plan->arena, list->nr_simple * sizeof(*list->special));
	if (!list->special)
		return -1;
	for (uint32_t i = 0; i < list->nr_simple; i++)
		if (list->ops[i].kind == PD_PAD)
			list->special[list->nr_pads++] = i;
	list->nr_special = list->nr_pads;
	for (uint32_t i = 0; i < list->nr_simple; i++)
		if (list->ops[i].kind != PD_PAD && list->ops[i].slot >= 0)
			list->special[list->nr_special++] = i;
	for (uint32_t i = list->nr_simple; i < list->nr_ops; i++)
		if (list->ops[i].list && index_special(plan, list->ops[i].list))
			return -1;
	return 0;
}

static const struct pd_op *find_kind(const struct pd_plan *plan, const char *name,
				     enum pd_kind kind)
{
	const struct pd_op *op = pd_plan_find(plan, name);

	return op && op->kind == kind ? op : NULL;
}

static void find_hot(struct pd_plan *plan)
{
	static const char *const names[PD_NR_HOT] = {
		[PD_HOT_PID] = "pid", [PD_HOT_TID] = "tid", [PD_HOT_TIME] = "time", [PD_HOT_CPU] =
			"cpu",
		[PD_HOT_PERIOD] = "period", [PD_HOT_LOST] = "lost", [PD_HOT_IP] =
			"ip", [PD_HOT_ADDR] = "addr",
		[PD_HOT_ID] = "id", [PD_HOT_IDENTIFIER] = "identifier",
	};

	for (size_t i = 0; i < PD_NR_HOT; i++) {
		const struct pd_op *op = pd_plan_find(plan, names[i]);

		plan->hot[i] = op && pd_op_is_fixed(op) ? op : NULL;
	}
	plan->callchain = find_kind(plan, "callchain", PD_NUMBERS);
	plan->raw = find_kind(plan, "raw", PD_STRUCT);
	plan->regs_user = find_kind(plan, "regs_user", PD_STRUCT);
	plan->stack_user = find_kind(plan, "stack_user", PD_STRUCT);
}

struct pd_plan *pd_plan_compile(const struct pd_field *fields, const struct pd_facts *facts,
				struct pd_budget *budget)
{
	struct pd_arena arena = { .budget = budget };
	struct pd_plan *plan = pd_arena_alloc(&arena, sizeof(*plan));
	struct pd_arena *kept = pd_arena_alloc(&arena, sizeof(*kept));
	struct compiler c = { plan, facts };

	if (!plan || !kept) {
		pd_arena_free(&arena);
		return NULL;
	}
	*kept = arena;
	*plan = (struct pd_plan){ .budget = budget, .arena = kept, .nr_slots = PD_MISC_SLOT + 1 };
	plan->list = compile_list(&c, fields, NULL);
	if (!plan->list || index_special(plan, plan->list)) {
		pd_plan_free(plan);
		return NULL;
	}
	find_hot(plan);
	return plan;
}

void pd_plan_free(struct pd_plan *plan)
{
	struct pd_arena arena;

	if (!plan)
		return;
	arena = *plan->arena;	/* the plan is in its own arena */
	pd_arena_free(&arena);
}

const struct pd_op *pd_plan_find(const struct pd_plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->list->nr_ops; i++)
		if (strcmp(plan->list->ops[i].field->name, name) == 0)
			return &plan->list->ops[i];
	return NULL;
}
