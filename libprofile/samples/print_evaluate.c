/* print_evaluate.c - the value of an expression in a sample: see print_evaluate.h. */
#include "samples/print_evaluate.h"

#include <string.h>

bool pp_find_fields(struct pp_sample_values *v, const struct pd_item *fields)
{
	const struct pd_item *field = NULL;
	size_t found = 0;

	while ((field = pd_item_next(fields, field))) {
		const size_t size = strlen(field->name);

		for (size_t i = 0; i < v->f->nr_slots; i++) {
			if (v->f->slots[i].size != size || v->slots[i] ||
			    memcmp(v->f->texts + v->f->slots[i].text, field->name, size) != 0)
				continue;
			v->slots[i] = field;
			found++;
		}
	}
	return found == v->f->nr_slots;
}

uint64_t pp_cast(uint64_t n, uint64_t to)
{
	const unsigned int unused = 64 - (unsigned int)(to & ~(uint64_t)PP_CAST_SIGNED);

	n <<= unused;
	return to & PP_CAST_SIGNED ? (uint64_t)((int64_t)n >> unused) : n >> unused;
}

static bool is_less(enum pp_sign sign, uint64_t a, uint64_t b)
{
	return sign == PP_UNSIGNED ? a < b : (int64_t)a < (int64_t)b;
}

static bool calculate_quotient(enum pp_operator op, enum pp_sign sign, uint64_t a, uint64_t b,
			       uint64_t *out)
{
	const int64_t left = (int64_t)a, right = (int64_t)b;

	if (!b || (sign == PP_SIGNED && left == INT64_MIN && right == -1))
		return false;
	if (sign == PP_UNSIGNED)
		*out = op == PP_BY ? a / b : a % b;
	else
		*out = (uint64_t)(op == PP_BY ? left / right : left % right);
	return true;
}

static bool calculate_shift(enum pp_operator op, enum pp_sign sign, uint64_t a, uint64_t b,
			    uint64_t *out)
{
	if (b > 63)
		return false;
	*out = op == PP_LEFT ? a << b : sign == PP_UNSIGNED ? a >> b : (uint64_t)((int64_t)a >> b);
	return true;
}

bool pp_calculate(enum pp_operator op, enum pp_sign sign, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (op) {
	case PP_OR: *out = a || b; break;
	case PP_AND: *out = a && b; break;
	case PP_BIT_OR: *out = a | b; break;
	case PP_BIT_XOR: *out = a ^ b; break;
	case PP_BIT_AND: *out = a & b; break;
	case PP_EQUAL: *out = a == b; break;
	case PP_UNEQUAL: *out = a != b; break;
	case PP_AT_MOST: *out = !is_less(sign, b, a); break;
	case PP_AT_LEAST: *out = !is_less(sign, a, b); break;
	case PP_LESS: *out = is_less(sign, a, b); break;
	case PP_MORE: *out = is_less(sign, b, a); break;
	case PP_PLUS: *out = a + b; break;
	case PP_MINUS: *out = a - b; break;
	case PP_TIMES: *out = a * b; break;
	case PP_LEFT:
	case PP_RIGHT:
		return calculate_shift(op, sign, a, b, out);
	case PP_BY:
	case PP_REST:
		return calculate_quotient(op, sign, a, b, out);
	}
	return true;
}

static bool is_numeric(const struct pd_item *item)
{
	return item->kind == PD_ITEM_NUMBER || item->kind == PD_ITEM_SIGNED ||
	       item->kind == PD_ITEM_ADDRESS;
}

const struct pd_item *pp_find_element(struct pp_sample_values *v, const struct pd_item *array,
				      uint64_t index)
{
	const struct pd_item *member = NULL;

	if (array->kind != PD_ITEM_ARRAY || index >= array->count)
		return NULL;
	v->steps += index;
	if (v->steps > PP_STEPS_MOST)
		return NULL;
	do
		member = pd_item_next(array, member);
	while (index--);
	return member;
}

static bool evaluate_unary(struct pp_sample_values *v, const struct pp_node *n, uint64_t *out)
{
	if (!pp_evaluate(v, n->first, out))
		return false;
	*out = n->kind == PP_NODE_NOT ? !*out : n->kind == PP_NODE_INVERT ? ~*out :
	       n->kind == PP_NODE_NEGATE ? 0 - *out : pp_cast(*out, n->number);
	return true;
}

static bool evaluate_element(struct pp_sample_values *v, const struct pp_node *n, uint64_t *out)
{
	const struct pd_item *member;
	uint64_t index;

	if (!pp_evaluate(v, n->second, &index))
		return false;
	member = pp_find_element(v, v->slots[v->f->nodes[n->first].number], index);
	*out = member && is_numeric(member) ? member->number : 0;
	return member && is_numeric(member);
}

static enum pp_sign sign_of_both(struct pp_sample_values *v, const struct pp_node *n);

/* C's types, as far as they matter: only some have 64 bits without a sign. */
static enum pp_sign sign_of(struct pp_sample_values *v, uint32_t i)
{
	const struct pp_node *n = &v->f->nodes[i];
	const struct pd_item *field;

	v->steps++;
	switch (n->kind) {
	case PP_NODE_NUMBER:
		return n->size ? PP_UNSIGNED : PP_SIGNED;
	case PP_NODE_CAST:
		return n->number == 64 ? PP_UNSIGNED : PP_SIGNED;
	case PP_NODE_FIELD:
		field = v->slots[n->number];
		return field->kind == PD_ITEM_ADDRESS ||
		       (field->kind == PD_ITEM_NUMBER && field->number > INT64_MAX) ?
			PP_UNSIGNED : PP_SIGNED;
	case PP_NODE_NEGATE:
	case PP_NODE_INVERT:
		return sign_of(v, n->first);
	case PP_NODE_BINARY:
		return sign_of_both(v, n);
	case PP_NODE_CHOICE:
		return sign_of(v, n->second) == PP_UNSIGNED ? PP_UNSIGNED : sign_of(v, n->third);
	default:
		return PP_SIGNED;
	}
}

static enum pp_sign sign_of_both(struct pp_sample_values *v, const struct pp_node *n)
{
	return sign_of(v, n->first) == PP_UNSIGNED ? PP_UNSIGNED : sign_of(v, n->second);
}

bool pp_evaluate(struct pp_sample_values *v, uint32_t i, uint64_t *out)
{
	const struct pp_node *n = &v->f->nodes[i];
	uint64_t a, b;

	if (++v->steps > PP_STEPS_MOST)
		return false;
	switch (n->kind) {
	case PP_NODE_NUMBER:
		*out = n->number;
		return true;
	case PP_NODE_FIELD:
		*out = v->slots[n->number]->number;
		return is_numeric(v->slots[n->number]);
	case PP_NODE_ELEMENT:
		return evaluate_element(v, n, out);
	case PP_NODE_CAST:
	case PP_NODE_NOT:
	case PP_NODE_INVERT:
	case PP_NODE_NEGATE:
		return evaluate_unary(v, n, out);
	case PP_NODE_BINARY:
		return pp_evaluate(v, n->first, &a) && pp_evaluate(v, n->second, &b) &&
		       pp_calculate((enum pp_operator)n->number, sign_of_both(v, n), a, b, out);
	case PP_NODE_CHOICE:
		return pp_evaluate(v, n->first, &a) &&
		       pp_evaluate(v, a ? n->second : n->third, out);
	default:	/* texts, and what is not known */
		return false;
	}
}
