/* json_numbers.c - writes arrays of numbers as JSON: callchains, registers, others. */
#include "json/json.h"

#include "layout/names_tables.h"

#define FIRST_MARKER ((uint64_t)-4095)
#define ENTRY_MAX 24	/* bytes of an address or a marker's name, with the comma */
#define BLOCK 128	/* entries of a chain for which room is made at once */

_Static_assert(BLOCK * ENTRY_MAX <= PD_JSONW_SLACK, "a block fits");
_Static_assert(64 * (PD_JSON_REGISTER_KEY + ENTRY_MAX) <= PD_JSONW_SLACK,
	       "a set of registers fits");

/* Returns "ax":"0x for each register, or NULL if a name is too long. */
static const struct pd_json_register *find_register_keys(struct pd_json *j,
							 const struct pd_numbers *n)
{
	struct pd_json_registers *set =
		&j->registers[(uintptr_t)n->names / 512 % PD_JSON_REGISTERS];
	const unsigned int arch_changes = j->session->arch_changes;

	if (set->names == n->names && set->arch_changes == arch_changes)
		return set->each;
	set->names = NULL;
	for (size_t i = 0; i < n->count; i++) {
		struct pd_json_register *r = &set->each[i];
		const size_t size = strlen(n->names[i]);

		if (size + 6 > PD_JSON_REGISTER_KEY)
			return NULL;
		r->text[0] = '"';
		memcpy(r->text + 1, n->names[i], size);
		memcpy(r->text + 1 + size, "\":\"0x", 5);
		r->size = (uint8_t)(size + 6);
	}
	set->names = n->names;
	set->arch_changes = arch_changes;
	return set->each;
}

static INLINE char *put_registers(char *at, const struct pd_json_register *r,
				  const struct pd_numbers *n, const char *digits, enum pd_swap swap)
{
	for (size_t i = 0; i < n->count; i++, r++) {
		*at = ',';
		at += i != 0;
		memcpy(at, r->text, sizeof(r->text));
		at = pd_write_address_rest(at + r->size, pd_load64(n->data + 8 * i, swap),
					   digits + 16 * i);
	}
	return at;
}

static void write_registers(struct pd_json *j, const struct pd_numbers *n)
{
	const enum pd_swap swap = n->swapped ? PD_SWAP_YES : PD_SWAP_NO;
	const struct pd_json_register *r = find_register_keys(j, n);
	char digits[64 * 16 + 16];

	pd_jsonw_char(&j->w, '{');
	if (!r) {
		for (size_t i = 0; i < n->count; i++) {
			pd_json_key_with(j, n->names[i], "");
			pd_jsonw_address(&j->w, pd_number_at(n, i));
		}
	} else if (n->count) {
		pd_write_hex_words(digits, n->data, n->count, swap);
		pd_jsonw_room(&j->w);
		j->w.at = swap == PD_SWAP_NO ? put_registers(j->w.at, r, n, digits, PD_SWAP_NO) :
					       put_registers(j->w.at, r, n, digits, PD_SWAP_YES);
	}
	pd_jsonw_char(&j->w, '}');
}

static inline const char *marker_name(const struct pd_field *f, uint64_t v)
{
	return __builtin_expect(v >= FIRST_MARKER, 0) ? pd_name_of(f->names, v) : NULL;
}

static char *put_marker(char *at, const char *name)
{
	const size_t size = strlen(name);

	*at++ = '"';
	memcpy(at, name, size);
	at[size] = '"';
	return at + size + 1;
}

/* Writes entries of a chain, addresses or names of markers, with a comma before each: a decision by
 * the byte just written would delay every entry. */
static INLINE char *put_entries(char *at, const struct pd_field *f, const uint8_t *data, size_t n,
				enum pd_swap swap)
{
	for (const uint8_t *end = data + 8 * n; data < end; data += 8) {
		const uint64_t v = pd_load64(data, swap);
		const char *name = marker_name(f, v);

		*at++ = ',';
		at = name ? put_marker(at, name) : pd_write_address(at, v);
	}
	return at;
}

/* Numbers of PD_MARKED rows are 8 bytes wide. */
static void write_chain(struct pd_json *j, const struct pd_field *f, const struct pd_numbers *n)
{
	for (size_t i = 0; i < n->count; i += BLOCK) {
		const size_t count = n->count - i < BLOCK ? n->count - i : BLOCK;
		const uint8_t *data = n->data + 8 * i;
		char *start = (pd_jsonw_room(&j->w), j->w.at);

		j->w.at = n->swapped ? put_entries(start, f, data, count, PD_SWAP_YES) :
				       put_entries(start, f, data, count, PD_SWAP_NO);
		if (!i)
			*start = '[';
	}
	if (!n->count)
		pd_jsonw_char(&j->w, '[');
	pd_jsonw_char(&j->w, ']');
}

void pd_json_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	struct pd_json *j = ctx;

	pd_json_key(j, f);
	if (n->names) {
		write_registers(j, n);
		return;
	}
	if (f->show == PD_MARKED) {
		write_chain(j, f, n);
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
