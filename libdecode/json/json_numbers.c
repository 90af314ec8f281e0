/* json_numbers.c - arrays of numbers as JSON: chains of addresses, registers, and plain ones. */
#include "json/json.h"

#include "layout/names_tables.h"

#define FIRST_MARKER ((uint64_t)-4095)
#define INLINE inline __attribute__((always_inline))	/* one for each byte order */
#define ENTRY_MAX 24	/* bytes of an entry, its comma included: an address, or the name of a marker */

_Static_assert(PD_JSON_CHAIN * ENTRY_MAX <= PD_JSONW_SLACK, "a chain fits");
_Static_assert(64 * (PD_JSON_REGISTER_KEY + ENTRY_MAX) <= PD_JSONW_SLACK, "a set of registers fits");

/* ,"ax":"0x for each register. NULL: one of the names is too long. */
static const struct pd_json_register *registers_of(struct pd_json *j, const struct pd_numbers *n)
{
	struct pd_json_registers *set = &j->registers[(uintptr_t)n->names / 512 % PD_JSON_REGISTERS];
	const unsigned int arch_changes = j->session->arch_changes;

	if (set->names == n->names && set->arch_changes == arch_changes)
		return set->each;
	set->names = NULL;
	for (size_t i = 0; i < n->count; i++) {
		struct pd_json_register *r = &set->each[i];
		const size_t size = strlen(n->names[i]);

		if (size + 7 > PD_JSON_REGISTER_KEY)
			return NULL;
		memcpy(r->text, ",\"", 2);
		memcpy(r->text + 2, n->names[i], size);
		memcpy(r->text + 2 + size, "\":\"0x", 5);
		r->size = (uint8_t)(size + 7);
	}
	set->names = n->names;
	set->arch_changes = arch_changes;
	return set->each;
}

/* The first comma comes to stand where the opening brace is. */
static INLINE char *put_registers(char *at, const struct pd_json_register *r, const struct pd_numbers *n,
				  const char *digits, enum pd_swap swap)
{
	for (size_t i = 0; i < n->count; i++, r++) {
		memcpy(at, r->text, sizeof(r->text));
		at = pd_write_address_rest(at + r->size, pd_load64(n->data + 8 * i, swap), digits + 16 * i);
	}
	return at;
}

static void registers(struct pd_json *j, const struct pd_numbers *n)
{
	const enum pd_swap swap = n->swapped ? PD_SWAP_YES : PD_SWAP_NO;
	const struct pd_json_register *r = registers_of(j, n);
	char digits[64 * 16 + 16], *open;

	pd_jsonw_char(&j->w, '{');
	if (!r) {
		for (size_t i = 0; i < n->count; i++) {
			pd_json_key_with(j, n->names[i], "");
			pd_jsonw_address(&j->w, pd_number_at(n, i));
		}
	} else if (n->count) {
		pd_write_hex_words(digits, n->data, n->count, swap);
		pd_jsonw_room(&j->w);
		open = j->w.at - 1;
		j->w.at = swap == PD_SWAP_NO ? put_registers(open, r, n, digits, PD_SWAP_NO) :
					       put_registers(open, r, n, digits, PD_SWAP_YES);
		*open = '{';
	}
	pd_jsonw_char(&j->w, '}');
}

/* An address or the name of a marker, with the comma before it. */
static char *put_marker(char *at, const char *name)
{
	const size_t size = strlen(name);

	at[0] = ',';
	at[1] = '"';
	memcpy(at + 2, name, size);
	at[2 + size] = '"';
	return at + 3 + size;
}

static inline const char *marker(const struct pd_field *f, uint64_t v)
{
	return __builtin_expect(v >= FIRST_MARKER, 0) ? pd_name_of(f->names, v) : NULL;
}

static char *put_entry(char *at, const struct pd_field *f, uint64_t v)
{
	const char *name = marker(f, v);

	if (name)
		return put_marker(at, name);
	*at = ',';
	return pd_write_address(at + 1, v);
}

/* Entries from..to of a chain; the text of each ends at its place in `ends`, counted from `open`. */
static INLINE char *put_entries(struct pd_json_chain *chain, const struct pd_field *f, size_t from, size_t to, char *open,
				char *at, enum pd_swap swap)
{
	const uint8_t *data = (const uint8_t *)&chain->entries[from];
	char digits[PD_JSON_CHAIN * 16 + 16];
	const char *next = digits;

	pd_write_hex_words(digits, data, to - from, swap);
	for (size_t i = from; i < to; i++, data += 8, next += 16) {
		const uint64_t v = pd_load64(data, swap);
		const char *name = marker(f, v);

		if (name) {
			at = put_marker(at, name);
		} else {
			memcpy(at, ",\"0x", 4);
			at = pd_write_address_rest(at + 4, v, next);
		}
		chain->ends[i] = (uint16_t)(at - open);
	}
	return at;
}

static size_t same_at_start(const struct pd_json_chain *last, const uint8_t *data, size_t max)
{
	size_t n = 0;

	while (n < max && pd_load64(data + 8 * n, PD_SWAP_NO) == last->entries[n])
		n++;
	return n;
}

/* `end` is behind the data's last entry. */
static size_t same_at_end(const struct pd_json_chain *last, const uint8_t *end, size_t max)
{
	const uint64_t *entry = last->entries + last->count;
	size_t n = 0;

	while (n < max && pd_load64(end - 8 * (n + 1), PD_SWAP_NO) == entry[-1 - (ptrdiff_t)n])
		n++;
	return n;
}

/* A chain from its opening bracket, in the place of a comma. What it shares with the last one is copied. */
static char *put_chain(struct pd_json *j, const struct pd_field *f, const struct pd_numbers *n, char *open)
{
	const enum pd_swap swap = n->swapped ? PD_SWAP_YES : PD_SWAP_NO;
	const struct pd_json_chain *last = &j->chains[j->last_chain];
	struct pd_json_chain *chain = &j->chains[j->last_chain ^= 1];
	const bool kept = last->text && last->flushed == j->w.flushed && last->names == f->names &&
			  last->swap == swap;
	const size_t old = kept ? last->count : 0;
	const size_t most = n->count < old ? n->count : old;
	size_t head, tail, i;
	char *at = open;

	head = same_at_start(last, n->data, most);
	/* not the last one's first entry: it has no comma */
	tail = most > head ? same_at_end(last, n->data + 8 * n->count, most - head - !head) : 0;
	memcpy(chain->entries, n->data, 8 * n->count);
	memcpy(chain->ends, last->ends, head * sizeof(*chain->ends));
	if (head) {
		memcpy(at, last->text, last->ends[head - 1]);
		at += last->ends[head - 1];
	}
	i = n->count - tail;
	if (swap == PD_SWAP_NO)
		at = put_entries(chain, f, head, i, open, at, PD_SWAP_NO);
	else
		at = put_entries(chain, f, head, i, open, at, PD_SWAP_YES);
	if (tail) {
		const size_t from = last->ends[old - tail - 1];
		const size_t moved = (size_t)(at - open) - from;

		memcpy(at, last->text + from, last->ends[old - 1] - from);
		at += last->ends[old - 1] - from;
		for (size_t k = old - tail; i < n->count; i++, k++)
			chain->ends[i] = (uint16_t)(last->ends[k] + moved);
	}
	*open = '[';
	chain->names = f->names;
	chain->swap = swap;
	chain->text = open;
	chain->count = n->count;
	chain->flushed = j->w.flushed;
	return at;
}

static void addresses(struct pd_json *j, const struct pd_field *f, const struct pd_numbers *n)
{
	pd_jsonw_char(&j->w, '[');
	pd_jsonw_room(&j->w);
	if (n->count && n->count <= PD_JSON_CHAIN && n->width == 8) {
		j->w.at = put_chain(j, f, n, j->w.at - 1);
	} else {
		for (size_t i = 0; i < n->count; i++) {
			char *at = (pd_jsonw_room(&j->w), j->w.at - (i == 0));

			j->w.at = put_entry(at, f, pd_number_at(n, i));
			if (i == 0)
				*at = '[';
		}
	}
	pd_jsonw_char(&j->w, ']');
}

void pd_json_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	struct pd_json *j = ctx;

	pd_json_key(j, f);
	if (n->names) {
		registers(j, n);
		return;
	}
	if (f->show == PD_MARKED) {
		addresses(j, f, n);
		return;
	}
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < n->count; i++) {
		uint64_t v = pd_number_at(n, i);

		pd_jsonw_comma(&j->w);
		if (f->show == PD_HEX)
			pd_jsonw_address(&j->w, v);
		else if (f->show == PD_SIGNED)
			pd_jsonw_signed(&j->w, (int64_t)pd_sign_extend(v, n->width));
		else
			pd_jsonw_unsigned(&j->w, v);
	}
	pd_jsonw_char(&j->w, ']');
}
