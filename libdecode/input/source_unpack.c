/* source_unpack.c - decompresses a whole input. */
#include "input/source_unpack.h"

#include <string.h>

#include "base/cursor.h"

struct pd_unpack {
	struct pd_source *under;
	const struct pd_packing *packing;
	struct pd_blocks blocks;
	uint64_t produced;
	bool between;		/* not inside a member */
	bool ended;
	struct pd_error damage;
	max_align_t state[];	/* of the packing */
};

static size_t unpack_size(const struct pd_packing *packing)
{
	return sizeof(struct pd_unpack) + packing->state_size;
}

struct pd_unpack *pd_unpack_new(struct pd_source *under, const struct pd_packing *packing,
				struct pd_budget *b, struct pd_error *e)
{
	struct pd_unpack *u = pd_budget_alloc(b, unpack_size(packing));

	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	if (!u) {
		pd_source_close(under);
		return NULL;
	}
	u->under = under;
	u->packing = packing;
	u->blocks.budget = b;
	e->code = packing->begin(u->state, &u->blocks);
	if (e->code) {
		pd_unpack_free(u);
		return NULL;
	}
	return u;
}

void pd_unpack_free(struct pd_unpack *u)
{
	if (!u)
		return;
	u->packing->end(u->state);
	pd_blocks_free(&u->blocks);
	pd_source_close(u->under);
	pd_budget_free(u->blocks.budget, u, unpack_size(u->packing));
}

struct pd_source *pd_unpack_under(const struct pd_unpack *u)
{
	return u->under;
}

const struct pd_error *pd_unpack_damage(const struct pd_unpack *u)
{
	return u->damage.code ? &u->damage : NULL;
}

static void end_unpacking(struct pd_unpack *u, enum pd_code code)
{
	u->ended = true;
	if (code)
		u->damage = (struct pd_error){
			.code = code, .severity = PD_DAMAGED, .offset = u->produced,
			.field = u->packing->name,
		};
	else if (u->packing->remark)
		u->damage = (struct pd_error){
			.code = PD_E_RESTORED, .severity = PD_DAMAGED, .text = u->packing->remark,
		};
}

static const uint8_t *find_nonzero(struct pd_bytes in)
{
	while (!*in.data)
		in.data++;
	return in.data;
}

/* Skips zero padding, much of which may be holes. */
static int skip_zeros(struct pd_source *s, struct pd_error *e)
{
	struct pd_bytes in;
	uint64_t data;

	for (;;) {
		if (pd_source_peek(s, 1, &in, e))
			return -1;
		if (!in.size || in.data[0])
			return 0;
		if (!pd_all_zero(in))
			in.size = (size_t)(find_nonzero(in) - in.data);
		if (pd_source_skip(s, in.size, NULL, e))
			return -1;
		data = pd_source_data_from(s, pd_source_offset(s));
		if (pd_source_is_random(s) && pd_source_seek(s, data, e))
			return -1;
	}
}

static bool is_continued(const struct pd_packing *packing, struct pd_bytes in)
{
	return packing->goes_on ? packing->goes_on(in) : packing->starts(in);
}

/* Begins the next member. Zeros may be between members and after the last; other bytes are not part
 * of the input and are not read. */
static int next_member(struct pd_unpack *u, struct pd_error *e)
{
	const uint64_t from = pd_source_offset(u->under);
	struct pd_bytes in;
	uint64_t size;

	if (pd_source_peek(u->under, PD_PACKING_HEAD, &in, e))
		return -1;
	if (!is_continued(u->packing, in) &&
	    (skip_zeros(u->under, e) || pd_source_peek(u->under, PD_PACKING_HEAD, &in, e)))
		return -1;
	u->between = false;
	if (is_continued(u->packing, in)) {
		const enum pd_code code = u->packing->begin(u->state, &u->blocks);

		if (code)
			end_unpacking(u, code);
		return 0;
	}
	end_unpacking(u, in.size ? PD_E_TRAILING : PD_OK);
	if (in.size && pd_source_size(u->under, &size) && size > from)
		u->damage.skipped = size - from;
	return 0;
}

/* Calls the decompressor once. Returns -1 on an I/O error only; damage ends the stream after the
 * output that came before it. */
static int64_t expand_some(struct pd_unpack *u, void *p, size_t n, struct pd_error *e)
{
	struct pd_packing_step s = { .out = p, .room = n };
	enum pd_code code;

	if (pd_source_peek(u->under, 1, &s.in, e))
		return -1;
	code = u->packing->step(u->state, &s);
	u->produced += s.made;
	pd_source_skip(u->under, s.taken, NULL, e);	/* within the window, so this cannot fail */
	u->between = s.ended;
	if (!code && !s.ended && !s.taken && !s.made)	/* it needs more input than there is */
		code = PD_E_CODEC;
	if (code)
		end_unpacking(u, code);
	return (int64_t)s.made;
}

int64_t pd_unpack_read(struct pd_unpack *u, void *p, size_t n, struct pd_error *e)
{
	int64_t got = 0;

	while (!got && !u->ended) {
		if (!pd_budget_may_expand(u->blocks.budget, u->produced,
					  pd_source_input_size(u->under))) {
			end_unpacking(u, PD_E_LIMIT);
			u->damage.want = u->produced;
			u->damage.text = "expands to more than the limit (--max-output): the rest "
					 "is left out";
			break;
		}
		if (u->between && next_member(u, e))
			return -1;
		if (!u->ended)
			got = expand_some(u, p, n, e);
	}
	return got;
}
