/* pack.c - run a plan in reverse: values to bytes. Mirrors walk.c, row kind by row kind. */
#include "pack/pack_internal.h"

#include <string.h>

static int pack_list(struct pd_packer *p, const struct pd_op_list *list,
		     struct pd_packed_object *in, size_t end);

static int open_object(struct pd_packer *p, pd_node node, struct pd_packed_object *o)
{
	pd_node n = node && p->v->type(node) == PD_NODE_OBJECT ? p->v->member(node, "padding") :
		NULL;

	*o = (struct pd_packed_object){ .node = node,
					.padding_bytes.budget = p->out->budget,
					.first_used = p->nr_used };
	if (!n)
		return 0;
	if (p->v->type(n) == PD_NODE_BYTES) {
		o->padding = p->v->text(n);
		return 0;
	}
	if (p->v->type(n) != PD_NODE_TEXT || pd_unhex(p->v->text(n), &o->padding_bytes))
		return pd_pack_fail(p, "padding", PD_E_ARGUMENT,
				    "expected an even number of hex digits");
	o->padding = pd_buf_bytes(&o->padding_bytes);
	return 0;
}

/* Stores a size that was not given, once it is known. */
static void patch_size(struct pd_packer *p, int8_t slot, uint64_t v)
{
	if (slot < 0)
		return;
	if (p->patch_at[slot])
		pd_store(p->out->data + p->patch_at[slot] - 1, v, p->patch_width[slot], p->swap);
	p->slots[slot] = v;
	p->patch_at[slot] = 0;
}

/* The bytes of a struct or group in out: up to `end` if its size is stated, else as many as its
 * rows need before `end`. */
struct packed_extent {
	bool is_stated;
	size_t end;		/* or PD_SIZE_OPEN */
};

/* Returns the extent of a struct or group that begins at the end of out. */
static struct packed_extent find_extent(const struct pd_packer *p, const struct pd_pack_scope *s,
					const struct pd_op *op, pd_node object)
{
	const struct packed_extent open = { false, PD_SIZE_OPEN };
	const struct pd_extent *extent = &op->field->extent;
	uint64_t size = 0;
	pd_node n;
	size_t end;

	if (extent->from == PD_EXTENT_SIBLING && op->extent_slot >= 0) {
		end = p->out->size + p->slots[op->extent_slot];
		return p->patch_at[op->extent_slot] ? open : (struct packed_extent){ true, end };
	}
	if (extent->from != PD_EXTENT_OWN)
		return (struct packed_extent){ false, s->end };
	n = object ? p->v->member(object, extent->sibling) : NULL;
	if (!n || pd_node_number(p->v, n, NULL, &size))
		return open;
	end = p->out->size + (size ? size : extent->value);
	/* the outer extent may truncate it */
	return (struct packed_extent){ true, end < s->end ? end : s->end };
}

/* Packs a group, whose rows are members of the object around it. */
static int pack_group(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op,
		      struct packed_extent extent)
{
	if (pack_list(p, op->list, s->in, extent.end))
		return -1;
	if (extent.is_stated && p->out->size < extent.end)
		return pd_pack_append_padding(p, s, extent.end - p->out->size);
	return 0;
}

/* Packs a nested object. */
static int pack_object(struct pd_packer *p, const struct pd_op *op, pd_node node,
		       struct packed_extent extent)
{
	struct pd_packed_object o;
	int err;

	if (pd_pack_enter(p, op->field->name, 0))
		return -1;
	err = open_object(p, node, &o) || pack_list(p, op->list, &o, extent.end) ||
		pd_pack_check_members(p, &o, NULL);
	if (!err && extent.is_stated && p->out->size < extent.end) {
		struct pd_pack_scope s = { .in = &o };

		err = pd_pack_append_padding(p, &s, extent.end - p->out->size);
	}
	pd_buf_free(&o.padding_bytes);
	p->depth--;
	return err ? -1 : 0;
}

static int pack_struct(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	const size_t from = p->out->size;
	pd_node object = op->kind == PD_GROUP ? s->object : pd_pack_member(p, s, op->field);
	struct packed_extent extent;

	if (object && op->kind == PD_STRUCT && p->v->type(object) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(object));	/* already packed */
		return 0;
	}
	if (object && p->v->type(object) != PD_NODE_OBJECT)
		return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT, "expected an object");
	extent = find_extent(p, s, op, object);
	if (op->kind == PD_GROUP ? pack_group(p, s, op, extent) :
				   pack_object(p, op, object, extent))
		return -1;
	if (extent.is_stated && p->out->size != extent.end)
		return pd_pack_fail(p, op->field->name, PD_E_SIZE,
				    "more bytes than its size states; omit the size");
	if (op->field->extent.from != PD_EXTENT_NONE && !extent.is_stated)
		patch_size(p, op->extent_slot, p->out->size - from);
	return 0;
}

static int pack_array(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	const bool bare = op->list->nr_ops == 1 && op->list->ops[0].field->name[0] == '\0' &&
			  op->list->ops[0].kind != PD_GROUP;
	pd_node list;
	size_t n;

	if (pd_pack_begin_array(p, s, op, &list, &n) || pd_pack_enter(p, op->field->name, 0))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct pd_packed_object o;
		uint64_t ignored;
		pd_node item = p->v->item(list, i, &ignored);
		int err;

		if (pd_pack_enter(p, NULL, i))
			return -1;
		if (!item || (!bare && p->v->type(item) != PD_NODE_OBJECT))
			return pd_pack_fail(p, NULL, PD_E_ARGUMENT, bare ? "expected a string" :
					    "expected an object");
		err = open_object(p, item, &o) || pack_list(p, op->list, &o, s->end) ||
			pd_pack_check_members(p, &o, NULL);
		pd_buf_free(&o.padding_bytes);
		if (err)
			return -1;
		p->depth--;
	}
	p->depth--;
	return 0;
}

static int pack_feature(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op)
{
	pd_node value = pd_pack_member(p, s, op->field);
	uint64_t id = 0;

	for (uint32_t i = 0; i < s->list->nr_ops; i++)
		if (strcmp(s->list->ops[i].field->name, "feat_id") == 0 &&
		    pd_pack_number_or_derived(p, s, &s->list->ops[i], &id) < 0)
			return -1;
	if (!value)
		return 0;
	if (p->v->type(value) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(value));
		return 0;
	}
	if (!p->how->feature)
		return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT,
				    "a feature is not allowed here");
	return p->how->feature(p->how->ctx, id, value, p);
}

static int pack_op(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	switch (op->kind) {
	case PD_UINT:
		return pd_pack_number(p, s, op);
	case PD_CSTR:
		return pd_pack_cstr(p, s, op);
	case PD_ZSTR:
	case PD_CHARS:
	case PD_FSTR:
		return pd_pack_text(p, s, op);
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
	case PD_AREA:
		return pd_pack_bytes(p, s, op);
	case PD_NUMBERS:
	case PD_REGISTERS:
		return pd_pack_numbers(p, s, op);
	case PD_LITERAL:
		pd_buf_append(p->out, op->field->literal, op->width);
		return 0;
	case PD_ARRAY:
		return pack_array(p, s, op);
	case PD_FEATURE:
		return pack_feature(p, s, op);
	default:
		return pack_struct(p, s, op);
	}
}

/* Packs numbers that earlier rows need. */
static int pack_forward_refs(struct pd_packer *p, const struct pd_pack_scope *s)
{
	for (uint32_t i = 0; i < s->list->nr_forward_refs; i++) {
		const struct pd_op *op = s->list->forward_refs[i].op;
		uint64_t v = 0;

		if (s->object && pd_pack_number_or_derived(p, s, op, &v) < 0)
			return -1;
		p->slots[op->slot] = v;
	}
	return 0;
}

/* In a damaged record the rows from `trailing` on are not given. */
static bool is_replaced_by_trailing(struct pd_packer *p, const struct pd_pack_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i];

	if (p->depth || p->fields_end != PD_SIZE_OPEN)
		return !p->depth && p->out->size >= p->fields_end;
	return op->kind != PD_PAD && p->v->member(s->object, "trailing") &&
		!pd_pack_any_given(p, s->list, i, s->object);
}

static int pack_list(struct pd_packer *p, const struct pd_op_list *list,
		     struct pd_packed_object *in, size_t end)
{
	struct pd_pack_scope s = { .list = list, .object = in->node, .in = in,
		.start = p->out->size, .end = end };
	const enum pd_swap swap = p->swap;

	if (pack_forward_refs(p, &s))
		return -1;
	for (uint32_t i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];
		enum pd_presence there = op->on != PD_ALWAYS || op->left ?
			pd_pack_presence_of(p, &s, i) : PD_PRESENT;

		if (there == PD_LIST_ENDS || is_replaced_by_trailing(p, &s, i))
			break;
		if (there == PD_ABSENT)
			continue;
		if (op->field->name[0] && op->kind != PD_GROUP && op->kind != PD_PAD &&
		    p->nr_used < PD_PACK_USED)
			p->used[p->nr_used++] = op->field;
		if (pack_op(p, &s, op) || p->out->failed)
			return pd_pack_fail(p, op->field->name, PD_E_LIMIT, "too many bytes");
	}
	p->swap = swap;
	return 0;
}

/* Ends the body where its stated size ends, if there is one. */
static int end_body(struct pd_packer *p, struct pd_packed_object *body, size_t end)
{
	struct pd_pack_scope s = { .in = body };

	if (end == PD_SIZE_OPEN || p->out->size == end)
		return 0;
	if (p->out->size > end)
		return pd_pack_fail(p, "size", PD_E_SIZE, "too small for these fields; omit it");
	if (p->how->fills)
		return pd_pack_fail(p, "size", PD_E_SIZE, "too large for these fields; omit it");
	return pd_pack_append_padding(p, &s, end - p->out->size);
}

static int pack_body(struct pd_packer *p, const struct pd_plan *plan, pd_node object)
{
	const struct pd_pack *how = p->how;
	const size_t end = how->size == PD_SIZE_OPEN ? PD_SIZE_OPEN : p->base + how->size;
	struct pd_packed_object o;
	pd_node trailing = how->after ? NULL : p->v->member(object, "trailing");
	const size_t left = trailing ? pd_pack_blob_size(p->v, trailing) : 0;
	int err;

	p->fields_end = trailing && end != PD_SIZE_OPEN && left <= how->size ? end - left :
		PD_SIZE_OPEN;
	err = open_object(p, object, &o) || pack_list(p, plan->list, &o, end) ||
		 (how->also && !trailing && pd_pack_check_members(p, &o, how->also));
	if (!err && trailing && pd_pack_append_blob(p, trailing))
		err = pd_pack_fail(p, "trailing", PD_E_ARGUMENT,
				   "expected an even number of hex digits");
	if (!err)
		err = end_body(p, &o, end);
	pd_buf_free(&o.padding_bytes);
	return err ? -1 : 0;
}

int pd_pack(const struct pd_plan *plan, pd_node object, const struct pd_pack *how,
	    struct pd_buf *out, struct pd_pack_error *e)
{
	struct pd_packer p = {
		.how = how, .v = how->values, .out = out, .e = e, .swap = how->swap,
		.base = out->size,
	};

	*e = (struct pd_pack_error){ .code = PD_OK };
	p.slots[PD_MISC_SLOT] = how->misc;
	return pack_body(&p, plan, object);
}
