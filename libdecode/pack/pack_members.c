/* pack_members.c - check the members of an object and decide which rows they make present. */
#include "pack/pack_internal.h"

#include <stdio.h>
#include <string.h>

bool pd_pack_row_has_key(const struct pd_field *f, const char *name)
{
	if (f->name[0] == name[0]) {
		const size_t n = strlen(f->name);

		if (strncmp(f->name, name, n) == 0 && (!name[n] || strcmp(name + n, "_hex") == 0))
			return true;
	}
	if (f->show != PD_BITS && f->show != PD_FLAGS)
		return false;
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		if (strcmp(b->name, name) == 0)
			return true;
	return false;
}

static bool is_listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if ((*names)[0] == name[0] && strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Returns whether the names differ by one letter added, removed, replaced or swapped. */
static bool is_similar(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), same = 0, end = 0;

	while (same < n && same < m && a[same] == b[same])
		same++;
	while (end < n - same && end < m - same && a[n - 1 - end] == b[m - 1 - end])
		end++;
	n -= same + end;
	m -= same + end;
	return n <= 2 && m <= 2 &&
		(n < 2 || m < 2 || (a[same] == b[same + 1] && a[same + 1] == b[same]));
}

static int fail_unknown_member(struct pd_packer *p, const struct pd_packed_object *o,
			       const char *name)
{
	char text[sizeof(p->e->text)] = "unknown field";

	for (unsigned int i = o->first_used; i < p->nr_used; i++)
		if (is_similar(p->used[i]->name, name))
			snprintf(text, sizeof(text), "unknown field; did you mean %s?",
				 p->used[i]->name);
	return pd_pack_fail(p, name, PD_E_ARGUMENT, text);
}

int pd_pack_check_members(struct pd_packer *p, const struct pd_packed_object *o,
			  const char *const *also)
{
	/* what --utc, --resolve and the like add, in objects of any kind */
	static const char *const anywhere[] = { "padding", "tracepoint",    "time_utc",
						"event",   "comm",	    "comm_hex",
						"frames",  "branch_frames",
						"addr_frame", NULL };
	const unsigned int first = o->first_used, n = p->nr_used - first;
	unsigned int next = 0;
	const char *name;
	pd_node value;

	if (!o->node || p->v->type(o->node) != PD_NODE_OBJECT || p->nr_used == PD_PACK_USED)
		return 0;
	for (size_t i = 0; p->v->member_at(o->node, i, &name, &value); i++) {
		unsigned int k = 0;

		if (!name || is_listed(also, name))
			continue;
		while (k < n && !pd_pack_row_has_key(p->used[first + (next + k) % n], name))
			k++;
		if (k < n)
			next = (next + k) % n;
		else if (!is_listed(anywhere, name))
			return fail_unknown_member(p, o, name);
	}
	p->nr_used = first;
	return 0;
}

/* Returns the number of elements or bytes of a node. */
static size_t node_length(struct pd_packer *p, pd_node object, const struct pd_field *f)
{
	pd_node n = p->v->member(object, f->name), hex = pd_pack_suffixed(p, object, f->name,
									  "_hex");

	if (hex)
		return p->v->type(hex) == PD_NODE_BYTES ? p->v->text(hex).size :
			p->v->text(hex).size / 2;
	switch (n ? p->v->type(n) : PD_NODE_NULL) {
	case PD_NODE_ARRAY:
		return p->v->length(n);
	case PD_NODE_BYTES:
		return p->v->text(n).size;
	case PD_NODE_TEXT:
		return f->kind == PD_TEXT ? p->v->text(n).size : p->v->text(n).size / 2;
	default:
		return 0;
	}
}

bool pd_pack_derive(struct pd_packer *p, const struct pd_op_list *list, pd_node object, int8_t slot,
		    uint64_t *out)
{
	for (uint32_t i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];

		if (op->kind == PD_GROUP && pd_pack_derive(p, op->list, object, slot, out))
			return true;
		if (op->count_slot != slot || op->count_from != PD_COUNT_SIBLING ||
		    !op->field->key_size || !p->v->member(object, op->field->name))
			continue;
		*out = node_length(p, object, op->field);
		return true;
	}
	return false;
}

size_t pd_pack_bytes_left(const struct pd_packer *p, const struct pd_pack_scope *s)
{
	return s->end == PD_SIZE_OPEN || s->end < p->out->size ? 0 : s->end - p->out->size;
}

bool pd_pack_any_given(struct pd_packer *p, const struct pd_op_list *list, uint32_t from,
		       pd_node object)
{
	for (uint32_t i = from; object && i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];

		if (op->kind == PD_GROUP ? pd_pack_any_given(p, op->list, 0, object) :
		    op->field->key_size && (p->v->member(object, op->field->name) ||
					    pd_pack_suffixed(p, object, op->field->name, "_hex")))
			return true;
	}
	return false;
}

/* Finds the first row with a name, also in groups. */
static const struct pd_field *find_first_named(const struct pd_op *op)
{
	const struct pd_field *f = op->field;

	if (op->kind != PD_GROUP)
		return f->key_size ? f : NULL;
	for (uint32_t i = 0; i < op->list->nr_ops; i++) {
		f = find_first_named(&op->list->ops[i]);
		if (f)
			return f;
	}
	return NULL;
}

/* For layouts that only the bytes distinguish: a row is present if it is given, a group if its
 * first row is. */
static bool is_given(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op)
{
	const struct pd_field *f = find_first_named(op);

	return f && s->object && p->v->member(s->object, f->name);
}

/* Returns whether the row before, with the opposite test, is given instead. */
static bool is_alternative_given(struct pd_packer *p, const struct pd_pack_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i], *before = op - 1;

	return i && before->on == PD_ON_TEST && before->unless != op->unless &&
	       before->field->when.test == op->field->when.test && is_given(p, s, before);
}

enum pd_presence pd_pack_presence_of(struct pd_packer *p, const struct pd_pack_scope *s, uint32_t i)
{
	const struct pd_op *op = &s->list->ops[i];

	if (op->on == PD_ON_TEST || op->on == PD_ON_VARIANT)
		return is_given(p, s, op) &&
			!(op->on == PD_ON_TEST && is_alternative_given(p, s, i)) ? PD_PRESENT :
				PD_ABSENT;
	if (pd_op_condition_met(op, p->slots) == op->unless)
		return PD_ABSENT;
	if (!op->left)
		return PD_PRESENT;
	if (s->end != PD_SIZE_OPEN)
		return pd_pack_bytes_left(p, s) >= op->left && (pd_pack_bytes_left(p, s) > 0) &&
		       (op->kind == PD_UINT || op->kind == PD_PAD ||
			pd_pack_any_given(p, s->list, i, s->object)) ?
			PD_PRESENT : PD_LIST_ENDS;
	return op->kind == PD_PAD || pd_pack_any_given(p, s->list, i, s->object) ? PD_PRESENT :
		PD_LIST_ENDS;
}
