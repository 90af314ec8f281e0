/* tree_visit.c - fields as items: one function for each way to show a row, as in json_visit.c. */
#include "tree/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/container.h"
#include "layout/registers.h"
#include "tracepoint/tracepoint.h"

void pd_tree_add_flags(struct pd_tree *t, const char *name, const struct pd_name *names,
		       uint64_t word)
{
	pd_tree_open(t, PD_ITEM_ARRAY, name)->number = word;
	for (; names->name; names++) {
		if (!names->value || (word & names->value) != names->value)
			continue;
		pd_tree_add_text(t, "", names->name);
		if (t->code == PD_OK)
			t->items[t->nr - 1].number = names->value;
	}
	pd_tree_close(t);
}

static void add_part(struct pd_tree *t, const struct pd_bits *b, uint64_t word)
{
	const uint64_t v = word >> b->shift & ((b->width == 64 ? 0 : 1ull << b->width) - 1);
	const char *name;

	switch (b->show) {
	case PD_BIT_ENUM:
		pd_tree_add_number(t, b->name, v, pd_name_of(b->names, v));
		break;
	case PD_BIT_LIST:
		pd_tree_add_flags(t, b->name, b->names, v);
		break;
	case PD_BIT_ENUM_LIST:
		pd_tree_open(t, PD_ITEM_ARRAY, b->name)->number = v;
		name = pd_name_of(b->names, v);
		if (v)
			pd_tree_add_number(t, "", v, name);
		pd_tree_close(t);
		break;
	default:
		if (v || b->show != PD_BIT_RESERVED)
			pd_tree_add_number(t, b->name, v, NULL);
		break;
	}
}

static void add_parts(struct pd_tree *t, const struct pd_field *f, uint64_t v)
{
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		if (b->show != PD_BIT_RESERVED || f->show != PD_BITS_RAW)
			add_part(t, b, v);
}

static void add_parts_object(struct pd_tree *t, const struct pd_field *f, uint64_t v)
{
	pd_tree_open(t, PD_ITEM_OBJECT, f->name)->number = v;
	if (f->show == PD_BITS_RAW)
		pd_tree_add_number(t, "raw", v, NULL);
	add_parts(t, f, v);
	pd_tree_close(t);
}

static void add_flags_object(struct pd_tree *t, const struct pd_field *f, uint64_t v)
{
	pd_tree_open(t, PD_ITEM_OBJECT, f->name)->number = v;
	pd_tree_add_number(t, "raw", v, NULL);
	pd_tree_add_flags(t, "names", f->names, v);
	pd_tree_close(t);
	add_parts(t, f, v);
}

static void add_real(struct pd_tree *t, const char *name, uint64_t v)
{
	struct pd_item *item = pd_tree_add(t, PD_ITEM_REAL, name);

	item->number = v;
	memcpy(&item->real, &v, sizeof(v));
}

/* Adds the name of the event that has the id. */
static void add_event_of(struct pd_tree *t, uint64_t id)
{
	const struct pd_attr *a = pd_session_by_id(t->session, id);
	char buf[PD_IMPLIED_NAME_MAX], *copy;
	struct pd_bytes name;

	if (!a)
		return;
	name = pd_session_event_name(t->session, a, buf);
	copy = pd_tree_room(t, name.size + 1);
	if (!copy)
		return;
	memcpy(copy, name.data, name.size);
	pd_tree_add_text(t, "event", copy);
}

static void on_number(void *ctx, const struct pd_field *f, uint64_t v)
{
	struct pd_tree *t = ctx;

	switch (f->show) {
	case PD_SIGNED:
		pd_tree_add(t, PD_ITEM_SIGNED, f->name)->number = v;
		break;
	case PD_HEX:
		pd_tree_add(t, PD_ITEM_ADDRESS, f->name)->number = v;
		break;
	case PD_FLAGS:
		add_flags_object(t, f, v);
		break;
	case PD_FLOAT:
		add_real(t, f->name, v);
		break;
	case PD_BITS:
		add_parts(t, f, v);
		break;
	case PD_BITS_OBJECT:
	case PD_BITS_RAW:
		add_parts_object(t, f, v);
		break;
	default:
		pd_tree_add_number(t, f->name, v, f->names ? pd_name_of(f->names, v) : NULL);
		if (f->names_event)
			add_event_of(t, v);
		break;
	}
}

/* Registers are an object, other numbers an array. */
static void on_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	const bool hex = n->names || f->show == PD_HEX || f->show == PD_MARKED;
	const enum pd_item_kind kind = hex		       ? PD_ITEM_ADDRESS
				       : f->show == PD_SIGNED ? PD_ITEM_SIGNED
							      : PD_ITEM_NUMBER;
	struct pd_tree *t = ctx;

	pd_tree_open(t, n->names ? PD_ITEM_OBJECT : PD_ITEM_ARRAY, f->name);
	for (size_t i = 0; i < n->count && t->code == PD_OK; i++) {
		struct pd_item *item = pd_tree_add(t, kind, n->names ? n->names[i] : "");
		const uint64_t v = pd_number_at(n, i);

		item->number = kind == PD_ITEM_SIGNED ? pd_sign_extend(v, n->width) : v;
		if (f->show == PD_MARKED)
			item->word = pd_name_of(f->names, v);
	}
	pd_tree_close(t);
}

static void on_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	pd_tree_add_bytes(ctx, PD_ITEM_TEXT, f->name, text);
}

static void on_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct pd_tree *t = ctx;
	uint64_t id = 0;

	if (f->kind != PD_FEATURE) {
		t->raw_data = bytes;
		pd_tree_add_bytes(t, PD_ITEM_BYTES, f->name, bytes);
		return;
	}
	pd_record_get_number(t->record, "feat_id", &id);
	pd_tree_open(t, PD_ITEM_OBJECT, f->name);
	pd_tree_add_feature(t, id, bytes, PD_MODE_PIPE);
	pd_tree_close(t);
}

static void on_enter(void *ctx, const struct pd_field *f)
{
	pd_tree_open(ctx, PD_ITEM_OBJECT, f ? f->name : "");
}

/* --- tracepoints --- */

static enum pd_item_kind kind_of(const struct pd_tp_field *f)
{
	return f->is_pointer ? PD_ITEM_ADDRESS : f->is_signed ? PD_ITEM_SIGNED : PD_ITEM_NUMBER;
}

static void tp_number(void *ctx, const struct pd_tp_field *f, uint64_t v)
{
	pd_tree_add(ctx, kind_of(f), f->name)->number = v;
}

static void tp_numbers(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n)
{
	struct pd_tree *t = ctx;

	pd_tree_open(t, PD_ITEM_ARRAY, f->name);
	for (size_t i = 0; i < n->count && t->code == PD_OK; i++)
		pd_tree_add(t, kind_of(f), "")->number = pd_tp_element(f, n, i);
	pd_tree_close(t);
}

static void tp_text(void *ctx, const struct pd_tp_field *f, struct pd_bytes text)
{
	pd_tree_add_bytes(ctx, PD_ITEM_TEXT, f->name, text);
}

static void tp_bytes(void *ctx, const struct pd_tp_field *f, struct pd_bytes bytes)
{
	pd_tree_add_bytes(ctx, PD_ITEM_BYTES, f->name, bytes);
}

/* Adds the name of the system call, if its number is one of the machine's. */
static void add_syscall(struct pd_tree *t, const struct pd_tp_event *e)
{
	const struct pd_tp_field *f = e->syscall;
	struct pd_cursor c = pd_cursor(t->raw_data, e->swap);
	const char *name = NULL;
	uint64_t number;

	if (t->raw_data.size >= e->min_size && pd_take(&c, f->offset) &&
	    pd_take_number(&c, (unsigned int)f->size, &number))
		name = pd_arch_syscall(t->session->arch, number);
	if (name)
		pd_tree_add_text(t, "syscall", name);
}

static void add_tracepoint(struct pd_tree *t, const struct pd_tp_event *e)
{
	static const struct pd_tp_visitor v = { tp_number, tp_numbers, tp_text, tp_bytes, NULL };

	pd_tree_open(t, PD_ITEM_OBJECT, "tracepoint");
	pd_tree_add_text(t, "system", e->system);
	pd_tree_add_text(t, "name", e->name);
	pd_tree_open(t, PD_ITEM_OBJECT, "fields");
	pd_tp_decode(e, t->raw_data, &v, t);
	pd_tree_close(t);
	if (e->syscall)
		add_syscall(t, e);
	pd_tree_close(t);
}

static void on_leave(void *ctx, const struct pd_field *f)
{
	struct pd_tree *t = ctx;
	const struct pd_attr *a = t->record ? t->record->attr : NULL;

	if (f && a && a->tracepoint && strcmp(f->name, "raw") == 0)
		add_tracepoint(t, a->tracepoint);
	pd_tree_close(t);
}

static void on_enter_array(void *ctx, const struct pd_field *f, size_t n)
{
	(void)n;
	pd_tree_open(ctx, PD_ITEM_ARRAY, f->name);
}

static void on_leave_array(void *ctx, const struct pd_field *f)
{
	(void)f;
	pd_tree_close(ctx);
}

/* Spans that are apart are copied, so that they are one. */
static void on_padding(void *ctx, const struct pd_bytes *spans, size_t n)
{
	struct pd_bytes all = { NULL, 0 };
	struct pd_tree *t = ctx;
	char *at;

	for (size_t i = 0; i < n; i++)
		all.size += spans[i].size;
	at = pd_tree_room(t, all.size);
	all.data = (const uint8_t *)at;
	for (size_t i = 0; at && i < n; at += spans[i++].size)
		memcpy(at, spans[i].data, spans[i].size);
	if (all.data)
		pd_tree_add_bytes(t, PD_ITEM_BYTES, "padding", all);
}

const struct pd_visitor pd_tree_visitor = {
	.size = sizeof(pd_tree_visitor), .number = on_number, .numbers = on_numbers,
	.text = on_text, .bytes = on_bytes, .enter = on_enter, .leave = on_leave,
	.enter_array = on_enter_array, .leave_array = on_leave_array, .padding = on_padding,
};

/* --- features, also those inside a record --- */

static void add_unknown(struct pd_tree *t, uint64_t id, struct pd_bytes section)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, id);
	pd_tree_open(t, PD_ITEM_OBJECT, pd_tree_join(t, "FEATURE_", number));
	pd_tree_add_bytes(t, PD_ITEM_BYTES, "raw", section);
	pd_tree_close(t);
}

void pd_tree_add_feature(struct pd_tree *t, uint64_t id, struct pd_bytes section,
			 enum pd_mode mode)
{
	const struct pd_feature_desc *d =
		id < PD_FEATURE_BITS ? pd_feature_desc((uint32_t)id) : NULL;
	const struct pd_plan *plan = d ? pd_session_feature_plan(t->session, d) : NULL;
	const enum pd_swap swap = t->session->swap;
	enum pd_regular regular = PD_IRREGULAR;
	struct pd_extent_of extent = { .code = PD_E_LIMIT };
	struct pd_bytes rest;

	if (!d) {
		add_unknown(t, id, section);
		return;
	}
	if (plan) {
		pd_measure(plan, section, 0, swap, PD_TEXT_TO_END, &extent);
		regular = pd_visit(plan, section, 0, swap, &extent, &pd_tree_visitor, t);
	}
	rest = (struct pd_bytes){ section.data ? section.data + extent.end : NULL,
				  section.size - extent.end };
	if (regular == PD_REGULAR && extent.code == PD_OK &&
	    (!rest.size || (mode == PD_MODE_PIPE && rest.size < 8 && pd_all_zero(rest))))
		return; /* zeros that pad a record to its size are implied */
	pd_tree_add_bytes(t, PD_ITEM_BYTES, pd_tree_join(t, d->field->name, "_raw"), section);
}
