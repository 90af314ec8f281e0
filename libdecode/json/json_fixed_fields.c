/* json_fixed_fields.c - numbers in a row as JSON: the form that they fill in is made once. */
#include "json/json.h"

static bool is_simple(const struct pd_field *f, unsigned int width)
{
	return !f->msb_first && (f->show == PD_DEC || f->show == PD_SIGNED || (f->show == PD_HEX && width == 8));
}

void pd_json_form_ops(struct pd_json_form *f, const struct pd_op *op, size_t n, uint32_t at)
{
	for (const struct pd_op *end = op + n; op < end; op++) {
		const struct pd_field *row = op->field;

		if (op->kind == PD_PAD || row->show == PD_HIDDEN)
			continue;
		if (!is_simple(row, op->width) || !row->key_size) {
			pd_json_form_other(f, op, at);
			continue;
		}
		pd_json_form_text(f, row->key, row->key_size);
		pd_json_form_number(f, (int32_t)(at + op->offset), op->width, (enum pd_show)row->show);
	}
}

static __attribute__((noinline)) void make_run(struct pd_json *j, struct pd_json_fixed_fields *run, const char *before,
					       const char *behind)
{
	run->arch_changes = j->session->arch_changes;
	pd_json_form_init(&run->form, run->blanks, PD_JSON_BLANKS, run->text, PD_JSON_RUN_TEXT);
	pd_json_form_text(&run->form, before, strlen(before));
	pd_json_form_ops(&run->form, run->ops, run->nr_ops, 0);
	pd_json_form_text(&run->form, behind, strlen(behind));
	run->is_good = pd_json_form_is_good(&run->form);
}

/* The form of a run, between two texts. NULL: it does not make one. */
static inline struct pd_json_form *form_of(struct pd_json *j, const struct pd_op *ops, size_t n, enum pd_swap swap,
					   const char *before, const char *behind)
{
	struct pd_json_fixed_fields *run = &j->runs[((uintptr_t)ops >> 6 ^ (uintptr_t)ops >> 12) % PD_JSON_RUNS];

	if (run->ops != ops || run->nr_ops != n || run->arch_changes != j->session->arch_changes || run->swap != swap) {
		run->ops = ops;
		run->nr_ops = (unsigned int)n;
		run->swap = swap;
		make_run(j, run, before, behind);
	}
	return run->is_good ? &run->form : NULL;
}

/* One by one. */
static void put_slowly(struct pd_json *j, const struct pd_op *op, const struct pd_op *end, const uint8_t *start,
		       enum pd_swap swap)
{
	for (; op < end; op++)
		if (op->kind != PD_PAD && op->field->show != PD_HIDDEN)
			pd_json_visitor.number(j, op->field, pd_op_shown(op, start, swap));
}

/* A form may begin with what the visitor writes: that has a comma only where no bracket lies before the joint. */
static bool has_comma(const struct pd_json *j, struct pd_json_joint joint)
{
	return joint.at >= j->w.buffer && joint.at[-1] != '[';
}

void pd_json_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap)
{
	struct pd_json *j = ctx;
	struct pd_json_form *form;
	struct pd_json_joint joint;

	if (ops == j->head_ops || ops == j->head_optional)
		return;
	form = form_of(j, ops, n, swap, "", "");
	pd_jsonw_room_twice(&j->w);
	joint = pd_json_joint(j->w.at);
	if (!form || !form->nr_blanks || (!form->blanks[0].gap && joint.first != ',' && !has_comma(j, joint))) {
		put_slowly(j, ops, ops + n, start, swap);
		return;
	}
	j->w.at = pd_json_fill(j, form, joint.at, start, swap);
	*joint.at = joint.first;
}

void pd_json_trailer(struct pd_json *j, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap)
{
	static const char before[] = ",\"sample_id\":{";
	struct pd_json_form *form = form_of(j, ops, n, swap, before, "}");

	pd_jsonw_room_twice(&j->w);
	if (form) {
		j->w.at = pd_json_fill(j, form, j->w.at, start, swap);
		return;
	}
	pd_jsonw_raw(&j->w, before, sizeof(before) - 1);
	put_slowly(j, ops, ops + n, start, swap);
	pd_jsonw_char(&j->w, '}');
}
