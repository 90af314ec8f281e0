/* reader_samples.c - samples in the caller's memory, by the places that they have in common: see
 * pd/fields.h. */
#include "base/argument.h"
#include "pd/fields.h"
#include "reader/reader_internal.h"

#define NOWHERE UINT32_MAX

/* Offsets in the body of every sample; NOWHERE: none has it. */
struct places {
	uint32_t time, ip, pid, callchain;
	uint32_t least;			/* bytes of a body that has all of these */
};

static bool place_number(const struct pd_plan *plan, enum pd_hot which, uint32_t width,
			 uint32_t *place, uint32_t *least)
{
	const struct pd_op *op = plan->hot[which];

	*place = op ? op->offset : NOWHERE;
	if (op && op->offset + width > *least)
		*least = op->offset + width;
	return !op || op->width == width;
}

/* A callchain is a count, and as many entries, each a uint64_t. */
static bool place_callchain(const struct pd_plan *plan, struct places *p)
{
	const uint32_t width = sizeof(uint64_t);
	const struct pd_op *op = plan->callchain;

	p->callchain = op ? op->offset : NOWHERE;
	if (!op)
		return true;
	if (op->offset == PD_VARIABLE || op->width != width || op->count_value != width)
		return false;
	if (op->offset + width > p->least)
		p->least = op->offset + width;
	return true;
}

static bool find_places(const struct pd_plan *plan, struct places *p)
{
	p->least = 0;
	return place_number(plan, PD_HOT_TIME, sizeof(uint64_t), &p->time, &p->least) &&
	       place_number(plan, PD_HOT_IP, sizeof(uint64_t), &p->ip, &p->least) &&
	       place_number(plan, PD_HOT_PID, sizeof(uint32_t), &p->pid, &p->least) &&
	       place_callchain(plan, p);
}

static bool are_equal(const struct places *a, const struct places *b)
{
	return a->time == b->time && a->ip == b->ip && a->pid == b->pid &&
	       a->callchain == b->callchain;
}

/* Returns false if samples of the events differ in their places. */
static bool find_common_places(struct pd_session *s, struct places *p)
{
	struct places other;

	for (size_t i = 0; i < s->nr_attrs; i++) {
		if (pd_session_plans_of(s, s->attrs[i]) ||
		    !find_places(s->attrs[i]->sample, i ? &other : p) ||
		    (i && !are_equal(p, &other)))
			return false;
	}
	return s->nr_attrs;
}

static inline uint64_t load_or_0(const uint8_t *body, uint32_t place, enum pd_swap swap)
{
	return place == NOWHERE ? 0 : pd_load64(body + place, swap);
}

/* Takes the callchain of a body that holds its count. Returns false if entries are missing. */
static inline bool take_callchain(struct pd_bytes body, uint32_t place, enum pd_swap swap,
				  struct pd_numbers *out)
{
	const size_t entries = place + sizeof(uint64_t);
	const uint64_t n = pd_load64(body.data + place, swap);

	if (n > (body.size - entries) / sizeof(uint64_t))
		return false;
	*out = (struct pd_numbers){ body.data + entries, (size_t)n, sizeof(uint64_t),
				    swap == PD_SWAP_YES, NULL };
	return true;
}

static inline bool take_sample(struct pd_cursor *c, const struct places *p, struct pd_sample *out)
{
	struct pd_cursor ahead = *c;
	struct pd_record_header h;
	struct pd_bytes body;

	if (!pd_take_record_header(&ahead, &h) || h.type != PD_RECORD_SAMPLE ||
	    h.size < PD_RECORD_HEADER_SIZE + p->least ||
	    !pd_take_bytes(&ahead, h.size - PD_RECORD_HEADER_SIZE, &body))
		return false;
	out->misc = h.misc;
	out->reserved = 0;
	out->time = load_or_0(body.data, p->time, c->swap);
	out->ip = load_or_0(body.data, p->ip, c->swap);
	out->pid = p->pid == NOWHERE ? -1 : (int32_t)pd_load32(body.data + p->pid, c->swap);
	out->callchain = (struct pd_numbers){ 0 };
	if (p->callchain != NOWHERE &&
	    !take_callchain(body, p->callchain, c->swap, &out->callchain))
		return false;
	*c = ahead;
	return true;
}

size_t pd_reader_samples_in(struct pd_reader *r, struct pd_bytes records, struct pd_sample *items,
			    size_t capacity, size_t *taken)
{
	struct places places;
	struct pd_cursor c;
	size_t n = 0;

	if (taken)
		*taken = 0;
	if (!r || !items || !taken || !pd_is_span(records) ||
	    !find_common_places(&r->session, &places))
		return 0;
	c = pd_cursor(records, r->session.swap);
	while (n < capacity && take_sample(&c, &places, &items[n]))
		n++;
	*taken = records.size - pd_left(&c);
	return n;
}
