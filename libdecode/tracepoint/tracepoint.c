/* tracepoint.c - tracepoint formats by id, and the fields of raw data. */
#include "tracepoint/tracepoint.h"

#include "pd/types.h"

/* A digital search tree: at depth d the d-th lowest bit of the id selects the branch. No path is
 * longer than the bits of an id, whatever ids the input has, and no node is ever moved. */
struct node {
	struct pd_tp_event event;
	struct node *branch[2];
};

struct pd_tracepoints {
	struct pd_arena arena;
	struct node *root;
};

struct pd_tracepoints *pd_tracepoints_new(struct pd_budget *budget)
{
	struct pd_tracepoints *t = pd_budget_alloc(budget, sizeof(*t));

	if (t)
		t->arena.budget = budget;
	return t;
}

void pd_tracepoints_free(struct pd_tracepoints *t)
{
	if (!t)
		return;
	pd_arena_free(&t->arena);
	pd_budget_free(t->arena.budget, t, sizeof(*t));
}

/* Returns the link to the event with this id, or the empty link for it. */
static struct node **find_link(struct node **link, uint64_t id)
{
	uint64_t bits = id;

	while (*link && (*link)->event.id != id) {
		link = &(*link)->branch[bits & 1];
		bits >>= 1;
	}
	return link;
}

enum pd_code pd_tracepoints_add(struct pd_tracepoints *t, const struct pd_tp_source *in,
				struct pd_tp_damage *damage)
{
	struct pd_tp_event event;
	struct node **link, *node;
	enum pd_code code = pd_tp_parse(&t->arena, in, &event, damage);

	if (code)
		return code;
	link = find_link(&t->root, event.id);
	if (*link)
		return PD_E_DUPLICATE;
	node = pd_arena_alloc(&t->arena, sizeof(*node));
	if (!node)
		return pd_tp_no_memory(&t->arena);
	node->event = event;
	*link = node;
	return PD_OK;
}

const struct pd_tp_event *pd_tracepoints_find(const struct pd_tracepoints *t, uint64_t id)
{
	const struct node *node = t ? t->root : NULL;
	uint64_t bits = id;

	while (node && node->event.id != id) {
		node = node->branch[bits & 1];
		bits >>= 1;
	}
	return node ? &node->event : NULL;
}

static uint64_t extend_number(const struct pd_tp_field *f, uint64_t value, unsigned int width)
{
	unsigned int unused = 64 - 8 * width;

	return f->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

uint64_t pd_tp_element(const struct pd_tp_field *f, const struct pd_numbers *n, size_t i)
{
	enum pd_swap swap = n->swapped ? PD_SWAP_YES : PD_SWAP_NO;

	return extend_number(f, pd_load(n->data + i * n->width, n->width, swap), n->width);
}

/* Sets *out to `size` bytes at `offset` of the data. Returns false if they are out of range. */
static bool take_range(struct pd_bytes raw, uint64_t offset, uint64_t size, struct pd_bytes *out)
{
	if (offset > raw.size || size > raw.size - offset)
		return false;
	*out = (struct pd_bytes){ raw.data + offset, (size_t)size };
	return true;
}

static bool find_span(const struct pd_tp_event *e, const struct pd_tp_field *f, struct pd_bytes raw,
		      struct pd_bytes *out)
{
	uint64_t from = 0, size = f->size;
	uint32_t loc;

	if (f->place == PD_TP_REST)
		size = f->offset < raw.size ? raw.size - f->offset : 0;
	if (!take_range(raw, f->offset, size, out))
		return false;
	if (f->place == PD_TP_FIXED || f->place == PD_TP_REST)
		return true;
	loc = pd_load32(out->data, e->swap);
	if (f->place == PD_TP_REL_LOC)
		from = (uint64_t)f->offset + f->size;
	return take_range(raw, from + (loc & 0xffff), loc >> 16, out);
}

static void visit_span(const struct pd_tp_event *e, const struct pd_tp_field *f,
		       struct pd_bytes span, const struct pd_tp_visitor *v, void *ctx)
{
	struct pd_numbers n = { .data = span.data, .swapped = e->swap == PD_SWAP_YES };

	switch ((enum pd_tp_kind)f->kind) {
	case PD_TP_UNSIGNED:
	case PD_TP_SIGNED:
	case PD_TP_POINTER:
		if (v->number)
			v->number(ctx, f,
				  extend_number(f, pd_load(span.data, f->size, e->swap), f->size));
		break;
	case PD_TP_STRING:
		span.size = pd_text_length(span);
		if (v->text)
			v->text(ctx, f, span);
		break;
	case PD_TP_INTS:
		n.width = f->elem_size;
		n.count = span.size / f->elem_size;
		if (v->numbers)
			v->numbers(ctx, f, &n);
		break;
	case PD_TP_BYTES:
		if (v->bytes)
			v->bytes(ctx, f, span);
		break;
	}
}

bool pd_tp_decode_field(const struct pd_tp_event *e, const struct pd_tp_field *f,
			struct pd_bytes raw, uint64_t *left,
			const struct pd_tp_visitor *v, void *ctx)
{
	struct pd_bytes span;

	if (find_span(e, f, raw, &span) && span.size < *left) {
		*left -= span.size + 1;
		visit_span(e, f, span, v, ctx);
		return true;
	}
	if (v->missing)
		v->missing(ctx, f);
	return false;
}

size_t pd_tp_decode(const struct pd_tp_event *e, struct pd_bytes raw, const struct pd_tp_visitor *v,
		    void *ctx)
{
	uint64_t left = pd_tp_allowance(raw);
	size_t missing = 0;

	for (size_t i = 0; i < e->nr_fields; i++)
		missing += !pd_tp_decode_field(e, &e->fields[i], raw, &left, v, ctx);
	return missing;
}

struct pd_error pd_tp_shortage(uint64_t offset, uint64_t want, uint64_t have, const char *file)
{
	return (struct pd_error){
		.code = PD_E_TRUNCATED, .severity = PD_DAMAGED,
		.record_type = PD_RECORD_SAMPLE, .record = "SAMPLE", .field = "raw.tracepoint",
		.offset = offset, .file = file, .want = want, .have = have };
}
