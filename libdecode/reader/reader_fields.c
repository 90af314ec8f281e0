/* reader_fields.c - records in batches, with the usual fields at fixed places: see pd/fields.h. */
#include "base/argument.h"
#include "pd/fields.h"

#include <string.h>

#include "reader/reader_internal.h"

/* pd_fields.place: the generation, and the number in the batch or ALONE. */
#define PLACE_BITS 10
#define ALONE ((1u << PLACE_BITS) - 1)	/* an item that came by pd_reader_next() */

/* A number of a record, and where it goes. */
struct hot_field {
	enum pd_fields_bit bit;
	enum pd_hot hot;
	uint8_t to, width;
	uint8_t role; /* that rows of this name have where it is meant; PD_ROLE_UNSET: any */
	enum { BODY, BODY_FIRST, TRAILER_FIRST, TIME } from;
};

#define FIELD(b, h, member, r, where) \
	{ PD_HAS_##b, PD_HOT_##h, offsetof(struct pd_fields, member), \
	  sizeof(((struct pd_fields *)0)->member), PD_ROLE_##r, where }
static const struct hot_field hot_fields[] = {
	FIELD(PID, PID, pid, PID, BODY_FIRST),
	FIELD(TID, TID, tid, TID, BODY_FIRST),
	FIELD(CPU, CPU, cpu, CPU, TRAILER_FIRST),
	FIELD(TIME, TIME, time, TIME, TIME),
	FIELD(IP, IP, ip, CODE_ADDRESS, BODY),
	FIELD(ADDR, ADDR, addr, UNSET, BODY),
	FIELD(PERIOD, PERIOD, period, UNSET, BODY),
	FIELD(ID, IDENTIFIER, id, EVENT_ID, TRAILER_FIRST),
	FIELD(ID, ID, id, EVENT_ID, TRAILER_FIRST),
};
_Static_assert(PD_BATCH_RECORDS <= ALONE, "a place tells batch and record");
_Static_assert(sizeof(hot_fields) / sizeof(*hot_fields) == PD_NR_HOT_FIELDS,
	       "pd_loads has as many");

/* Copies the number from its body or trailer. */
static inline void copy_number(const struct pd_load *l, const uint8_t *part, enum pd_swap swap,
			       struct pd_fields *out)
{
	uint8_t *to = (uint8_t *)out + l->to;
	uint64_t value;
	uint32_t half;

	if (l->same == sizeof(value))
		value = pd_load64(part + l->at, swap);
	else
		value = l->same == sizeof(half) ? pd_load32(part + l->at, swap)
						: pd_op_value(l->op, part, swap);
	half = (uint32_t)value;
	if (l->width == sizeof(value))
		memcpy(to, &value, sizeof(value));
	else
		memcpy(to, &half, sizeof(half));
}

/* Sets l where a record of these plans has the number. */
static bool choose_load(const struct hot_field *f, uint32_t type, const struct pd_plan *body,
			const struct pd_plan *trailer, struct pd_load *l)
{
	const struct pd_op *in_body = body ? body->hot[f->hot] : NULL,
			   *in_trailer = trailer ? trailer->hot[f->hot] : NULL;

	if (in_body && f->role != PD_ROLE_UNSET && in_body->field->role != f->role)
		in_body = NULL;
	if (f->from == BODY || (f->from == BODY_FIRST && in_body) ||
	    (f->from == TIME && type == PD_RECORD_SAMPLE))
		in_trailer = NULL;
	if (in_trailer || (f->from == TIME && type != PD_RECORD_SAMPLE))
		in_body = NULL;
	l->op = in_trailer ? in_trailer : in_body;
	l->in_trailer = in_trailer;
	l->to = f->to;
	l->width = f->width;
	l->bit = f->bit;
	if (!l->op)
		return false;
	l->at = l->op->offset;
	l->same = l->op->width == l->width ? l->width : 0;
	return true;
}

static void find_loads(struct pd_loads *all, uint32_t type, const struct pd_plan *body,
		       const struct pd_plan *trailer, uint32_t want)
{
	all->body = body;
	all->trailer = trailer;
	all->type = type;
	all->want = want;
	all->has = all->nr = 0;
	for (size_t i = 0; i < PD_NR_HOT_FIELDS; i++) {
		if (!(hot_fields[i].bit & want & ~all->has) ||
		    !choose_load(&hot_fields[i], type, body, trailer, &all->loads[all->nr]))
			continue;
		all->has |= hot_fields[i].bit;
		all->nr++;
	}
}

/* Returns the loads of a record: those of the last one of its type, if that had the same plans. */
static inline const struct pd_loads *loads_of(struct pd_reader *r, uint32_t type,
					      const struct pd_plan *body,
					      const struct pd_plan *trailer, uint32_t want)
{
	struct pd_loads *l = &r->loads[type % PD_NR_LOADS];

	if (l->body != body || l->trailer != trailer || l->type != type || l->want != want)
		find_loads(l, type, body, trailer, want);
	return l;
}

static void fill_raw(const struct pd_plan *plan, struct pd_bytes body, uint32_t nr_ops,
		     enum pd_swap swap, struct pd_fields *out)
{
	const struct pd_op *op = plan->raw;
	struct pd_cursor c;
	uint64_t size;

	if (!pd_go_to_op(plan, op, body, nr_ops, swap, &c) ||
	    !pd_take_number(&c, op->list->ops[0].width, &size) || size > pd_left(&c) ||
	    !pd_take_bytes(&c, (size_t)size, &out->raw))
		return;
	out->has |= PD_HAS_RAW;
}

/* Fills in the fields without a fixed place, from a body that holds the first nr_ops ops. */
static inline void fill_rest(const struct pd_plan *plan, struct pd_bytes body, uint32_t nr_ops,
			     uint32_t want, enum pd_swap swap, struct pd_fields *out)
{
	if ((want & PD_HAS_CALLCHAIN) &&
	    pd_take_callchain(plan, body, nr_ops, swap, &out->callchain))
		out->has |= PD_HAS_CALLCHAIN;
	if (want & PD_HAS_RAW)
		fill_raw(plan, body, nr_ops, swap, out);
}

static inline void fill_simple(const struct pd_batch *batch, const struct pd_simple *p,
			       const struct pd_loads *all, uint32_t want, enum pd_swap swap,
			       struct pd_fields *out)
{
	const uint8_t *data = batch->data + p->at, *body = data + PD_RECORD_HEADER_SIZE;
	const size_t trailer_size = pd_simple_trailer_size(p);
	const uint8_t *trailer = data + p->size - trailer_size;
	const struct pd_load *const end = all->loads + all->nr;

	out->type = p->type;
	out->misc = pd_record_header_load(data, swap).misc;
	out->has = all->has;
	out->bytes = (struct pd_bytes){ data, p->size };
	out->attr = p->attr;
	out->error = NULL;
	out->offset = batch->offset + (batch->inner_offset == PD_OUTER ? p->at : 0);
	for (const struct pd_load *l = all->loads; l < end; l++)
		copy_number(l, l->in_trailer ? trailer : body, swap, out);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): simple records have a plan */
	if (p->plan->callchain || p->plan->raw)
		fill_rest(p->plan,
			  (struct pd_bytes){ body, p->size - PD_RECORD_HEADER_SIZE - trailer_size },
			  p->plan->list->nr_ops, want, swap, out);
}

/* A record that pd_reader_next() gave. */
static void fill_record(const struct pd_record *r, const struct pd_loads *all, uint32_t want,
			struct pd_fields *out)
{
	const enum pd_swap swap = r->session->swap;

	out->type = r->frame.type;
	out->misc = r->frame.misc;
	out->has = 0;
	out->bytes = r->frame.bytes;
	out->attr = r->attr;
	out->error = pd_record_error(r);
	out->offset = r->frame.offset;
	for (uint32_t i = 0; i < all->nr; i++) {
		const struct pd_load *l = &all->loads[i];
		const struct pd_bytes part = l->in_trailer ? r->trailer_bytes : r->body;

		if (part.size < l->op->offset || part.size - l->op->offset < l->op->width)
			continue;
		copy_number(l, part.data, swap, out);
		out->has |= l->bit;
	}
	if (r->plan)
		fill_rest(r->plan, r->body, r->extent.nr_ops, want, swap, out);
}

/* Where the n-th item is filled in: of a caller whose items are smaller, *own, to be copied. */
static inline struct pd_fields *item_of(const struct pd_fields_batch *b, size_t n,
					struct pd_fields *own)
{
	return b->item_size < sizeof(*own)
		       ? own
		       : (struct pd_fields *)((uint8_t *)b->items + n * b->item_size);
}

static inline void keep_item(const struct pd_fields_batch *b, size_t n, const struct pd_fields *own)
{
	uint8_t *at = (uint8_t *)b->items + n * b->item_size;

	if (b->item_size < sizeof(*own))
		memcpy(at, own, b->item_size);
	else if (b->item_size > sizeof(*own))
		memset(at + sizeof(*own), 0, b->item_size - sizeof(*own));
}

static int fill_batch(struct pd_reader *r, const struct pd_fields_batch *b, uint32_t want)
{
	const enum pd_swap swap = r->session.swap;
	struct pd_batch *batch = &r->batch;
	const struct pd_loads *all = NULL;
	struct pd_fields own;
	size_t n = 0;

	for (; n < b->capacity && batch->next < batch->count; n++, batch->next++) {
		const struct pd_simple *p = &batch->records[batch->next];
		const struct pd_plan *trailer = pd_simple_trailer_size(p) ? p->attr->trailer : NULL;
		struct pd_fields *out = item_of(b, n, &own);

		if (!all || all->body != p->plan || all->trailer != trailer)
			all = loads_of(r, p->type, p->plan, trailer, want);
		fill_simple(batch, p, all, want, swap, out);
		out->place = r->generation << PLACE_BITS | batch->next;
		keep_item(b, n, out);
	}
	return (int)n;
}

int pd_reader_next_fields(struct pd_reader *r, struct pd_fields_batch *b, struct pd_error *e)
{
	uint32_t want;
	const struct pd_record *record;
	struct pd_fields own, *out;
	int ret;

	if (!r || !b)
		return pd_refuse(e, "no reader or no batch");
	if (b->size < offsetof(struct pd_fields_batch, want) || b->size > PD_OPTIONS_LARGEST ||
	    !b->items || !b->capacity || b->capacity > INT32_MAX ||
	    b->item_size < offsetof(struct pd_fields, reserved2) ||
	    b->item_size > PD_OPTIONS_LARGEST)
		return pd_refuse(e, "no room for an item, or a size is not set");
	want = b->size >= sizeof(*b) && b->want ? b->want : UINT32_MAX;
	if (pd_reader_batch(r))
		return fill_batch(r, b, want);
	ret = pd_reader_next(r, &record, e);
	if (ret != 1)
		return ret;
	out = item_of(b, 0, &own);
	fill_record(record, loads_of(r, record->frame.type, record->plan, record->trailer, want),
		    want, out);
	out->place = ++r->generation << PLACE_BITS | ALONE;
	keep_item(b, 0, out);
	return 1;
}

const struct pd_record *pd_reader_record(struct pd_reader *r, const struct pd_fields *item)
{
	const uint32_t place = item ? item->place & ALONE : 0;

	/* of the generation a place has the low bits */
	if (!r || !item || (item->place ^ r->generation << PLACE_BITS) >> PLACE_BITS)
		return NULL;
	if (place == ALONE)
		return &r->record;
	if (place >= r->batch.count)
		return NULL;
	pd_batch_record(&r->batch, &r->batch.records[place], &r->session, &r->record);
	return &r->record;
}
