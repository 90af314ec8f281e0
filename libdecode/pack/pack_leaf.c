/* pack_leaf.c - pack rows without inner rows: numbers, texts, bytes, registers. */
#include "pack/pack_internal.h"

#include <stdio.h>
#include <string.h>

#include "pack/pack_number.h"

static int fail_names(struct pd_packer *p, const char *last, const struct pd_name *names)
{
	char text[sizeof(p->e->text)] = "expected a number";

	if (names && names->name)
		snprintf(text, sizeof(text), "a number or one of %s", names->name);
	for (size_t n; names && names->name && (++names)->name;) {
		n = strlen(text);
		if (n + strlen(names->name) + 8 > sizeof(text)) {
			snprintf(text + n, sizeof(text) - n, ", ...");
			break;
		}
		snprintf(text + n, sizeof(text) - n, ", %s", names->name);
	}
	if (!names)
		snprintf(text, sizeof(text), "not a number or name of this field");
	return pd_pack_fail(p, last, PD_E_ARGUMENT, text);
}

int pd_pack_number_or_derived(struct pd_packer *p, const struct pd_pack_scope *s,
			      const struct pd_op *op, uint64_t *v)
{
	const char *bad;
	int ret = pd_pack_number_of(p->v, s->object, op->field, v, &bad);

	if (ret < 0) {
		if (bad && (op->field->show != PD_BITS && !pd_pack_row_has_key(op->field, bad)))
			/* else it is a member of the outer object */
			pd_pack_enter(p, op->field->name, 0);
		if (ret == PD_PACK_CONTRADICTS)
			return pd_pack_fail(p, bad, PD_E_ARGUMENT,
					    "contradicts raw: change both, or omit raw");
		return fail_names(p, bad ? bad : op->field->name, bad ? NULL : op->field->names);
	}
	if (ret == 0 || op->slot < 0 || !pd_pack_derive(p, s->list, s->object, op->slot, v))
		return ret;
	return 0;
}

static bool fits_in_width(const struct pd_op *op, uint64_t v)
{
	return op->width == 8 || !(v >> (8 * op->width)) || pd_sign_extend(v, op->width) == v;
}

int pd_pack_number(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	uint64_t v = 0;
	pd_node hex;
	int ret = pd_pack_number_or_derived(p, s, op, &v);

	if (ret < 0)
		return -1;
	hex = op->field->show == PD_FLOAT ?
		pd_pack_suffixed(p, s->object, op->field->name, "_hex") : NULL;
	if (hex && p->v->type(hex) == PD_NODE_TEXT) {
		struct pd_bytes text = p->v->text(hex);
		struct pd_buf bits = { .budget = p->out->budget };

		if (pd_unhex(text, &bits) == 0 && bits.size == 8)
			v = pd_load64(bits.data, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
				      PD_SWAP_YES : PD_SWAP_NO);
		pd_buf_free(&bits);
	}
	if (!fits_in_width(op, v))
		return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT, "too large for this field");
	if (op->field->show == PD_DEC && v >> 63 &&
	    pd_node_is_negative(p->v, pd_pack_member(p, s, op->field)))
		return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT, "must not be negative");
	if (op->slot >= 0) {
		p->slots[op->slot] = v;
		p->patch_at[op->slot] = ret ? p->out->size + 1 : 0;
		p->patch_width[op->slot] = op->width;
	}
	if (op->field->show == PD_ORDER)
		p->swap = (v != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? PD_SWAP_YES :
			PD_SWAP_NO;
	if (op->field->msb_first && pd_is_big(p->swap))
		v = pd_bits_mirror(op->field, v, op->width, PD_TO_BIG);
	pd_pack_store(p, v, op->width);
	return 0;
}

int pd_pack_cstr(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	size_t size, pad;

	if (pd_pack_append_text(p, s, op->field, pd_pack_member(p, s, op->field), &size))
		return -1;
	if (s->end == PD_SIZE_OPEN)
		pad = 1 + (size_t)(-(ptrdiff_t)(p->out->size - p->base + 1) & 7);
	else if (s->end < p->out->size)
		return pd_pack_fail(p, op->field->name, PD_E_SIZE,
				    "the record's size is too small for it; omit the size");
	else
		pad = pd_pack_bytes_left(p, s);
	return pd_pack_append_padding(p, s, pad);
}

int pd_pack_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	pd_node n = op->field->name[0] ? pd_pack_member(p, s, op->field) : s->object;
	size_t from = p->out->size, size;

	if (op->kind == PD_FSTR)
		pd_pack_store(p, 0, 4);
	if (pd_pack_append_text(p, s, op->field, n, &size))
		return -1;
	switch (op->kind) {
	case PD_CHARS:
		if (size > op->width)
			return pd_pack_fail(p, op->field->name, PD_E_SIZE, "longer than its array");
		return pd_pack_append_padding(p, s, op->width - size);
	case PD_ZSTR:
		pd_buf_append(p->out, "", 1);
		return 0;
	default:
		pd_buf_append(p->out, (const char[65]){ 0 }, pd_fstr_size(size) - size);
		if (!p->out->failed)
			pd_store(p->out->data + from, pd_fstr_size(size), 4, p->swap);
		return 0;
	}
}

/* Returns the size of a pad. */
static size_t pad_count(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op)
{
	size_t at = p->out->size;

	switch (op->count_from) {
	case PD_COUNT_REST:
		return pd_pack_bytes_left(p, s);
	case PD_COUNT_REST_MOD:
		if (s->end == PD_SIZE_OPEN)
			return (size_t)(-(ptrdiff_t)(at - p->base)) & (size_t)(op->count_value - 1);
		return pd_pack_bytes_left(p, s) % (size_t)op->count_value;
	case PD_COUNT_ALIGN:
		return (size_t)(-(ptrdiff_t)(at - s->start)) & (size_t)(op->count_value - 1);
	default:
		return (size_t)op->count_value;
	}
}

/* Checks a given count against the values. */
static int check_count(struct pd_packer *p, const struct pd_op *op, uint64_t have)
{
	uint64_t stated;

	switch (op->count_from) {
	case PD_COUNT_FIXED:
		stated = op->count_value;
		break;
	case PD_COUNT_SIBLING:
		stated = op->count_slot < 0 ? have : p->slots[op->count_slot];
		if (op->count_value == 32)
			stated &= UINT32_MAX;
		break;
	case PD_COUNT_PRODUCT:
		stated = p->slots[op->count_slot] * p->slots[op->by_slot];
		break;
	case PD_COUNT_WORDS:
		stated = p->slots[op->count_slot];
		stated = stated / op->count_value + (stated % op->count_value != 0);
		break;
	default:
		return 0;
	}
	if (stated == have)
		return 0;
	if (!have)
		return pd_pack_fail(p, op->field->name, PD_E_COUNT,
				    "it is missing (was it decoded with --blobs omit?)");
	return pd_pack_fail(p, op->field->name, PD_E_COUNT,
			    "its length differs from its count; omit the count");
}

int pd_pack_bytes(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op)
{
	size_t inline_at = p->out->size, size = 0;
	pd_node n;

	if (op->kind == PD_PAD)
		return pd_pack_append_padding(p, s, pad_count(p, s, op));
	if (op->count_from == PD_COUNT_INLINE)
		pd_pack_store(p, 0, (unsigned int)op->count_value);
	n = op->field->name[0] ? pd_pack_member(p, s, op->field) : s->object;
	if (op->kind == PD_TEXT) {
		if (pd_pack_append_text(p, s, op->field, n, &size))
			return -1;
	} else if (n) {
		size_t from = p->out->size;

		if (pd_pack_append_blob(p, n))
			return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT,
					    "expected an even number of hex digits");
		size = p->out->size - from;
	}
	if (op->kind == PD_AREA) {
		if (size > op->width)
			return pd_pack_fail(p, op->field->name, PD_E_SIZE, "longer than its field");
		return pd_pack_append_padding(p, s, op->width - size);
	}
	if (op->count_from == PD_COUNT_INLINE && !p->out->failed)
		pd_store(p->out->data + inline_at, size, (unsigned int)op->count_value, p->swap);
	return check_count(p, op, size);
}

static int pack_registers(struct pd_packer *p, const struct pd_pack_scope *s,
			  const struct pd_op *op)
{
	pd_node regs = pd_pack_member(p, s, op->field), value;
	const char *name;

	if (regs && p->v->type(regs) != PD_NODE_OBJECT)
		return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT,
				    "expected an object of registers by name");
	for (size_t i = 0; regs && p->v->member_at(regs, i, &name, &value); i++) {
		uint32_t k = 0;

		while (k < op->size / 8 && strcmp(op->names[k], name) != 0)
			k++;
		if (k < op->size / 8)
			continue;
		pd_pack_enter(p, op->field->name, 0);
		return pd_pack_fail(p, name, PD_E_ARGUMENT,
				    "the event's mask does not include such a register of the "
				    "machine in feature ARCH");
	}
	for (uint32_t i = 0; i < op->size / 8; i++) {
		pd_node n = regs ? p->v->member(regs, op->names[i]) : NULL;
		uint64_t v = 0;

		if (n && pd_node_number(p->v, n, NULL, &v))
			return pd_pack_enter(p, op->field->name, 0),
			       pd_pack_fail(p, op->names[i], PD_E_ARGUMENT,
					    "expected the value of a register");
		pd_pack_store(p, v, 8);
	}
	return 0;
}

int pd_pack_begin_array(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op,
			pd_node *list, size_t *n)
{
	*list = pd_pack_member(p, s, op->field);
	*n = 0;
	if (*list) {
		if (p->v->type(*list) != PD_NODE_ARRAY)
			return pd_pack_fail(p, op->field->name, PD_E_ARGUMENT, "expected an array");
		*n = p->v->length(*list);
	}
	if (op->count_from == PD_COUNT_INLINE)
		pd_pack_store(p, *n, (unsigned int)op->count_value);
	return check_count(p, op, *n);
}

int pd_pack_numbers(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op)
{
	pd_node list;
	size_t n;

	if (op->kind == PD_REGISTERS)
		return pack_registers(p, s, op);
	if (pd_pack_begin_array(p, s, op, &list, &n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;
		pd_node item = p->v->item(list, i, &v);

		if ((item && pd_node_number(p->v, item, op->field->names, &v)) ||
		    !fits_in_width(op, v) ||
		    (item && op->field->show == PD_DEC && pd_node_is_negative(p->v, item))) {
			pd_pack_enter(p, op->field->name, 0);
			pd_pack_enter(p, NULL, i);
			return pd_pack_fail(p, NULL, PD_E_ARGUMENT,
					    "expected a number that fits this field");
		}
		pd_pack_store(p, v, op->width);
	}
	return 0;
}
