/* check_rows.c - single rows: required members of each kind, keys, docs, bits, names, depth,
 * pads.
 */
#include "lint/check_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 8		/* as in extract.c */
#define MAX_PADS 32		/* as in walk.c: an object and its outer ones */

struct place {
	char path[PD_CHECK_PATH];
	unsigned int depth, pads;
};

static bool is_power_width(unsigned int width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static void check_key(struct pd_check *c, const char *path, const char *name, const char *key,
		      size_t size)
{
	char want[PD_CHECK_PATH];
	int n = snprintf(want, sizeof(want), ",\"%s\":", name);

	if (!key || size != (size_t)n || strcmp(key, want) != 0)
		pd_check_complain(c, path, "its key is not rendered as %s", want);
}

void pd_check_names(struct pd_check *c, const char *path, const struct pd_name *names,
		    unsigned int bits)
{
	for (const struct pd_name *n = names; n->name; n++) {
		if (bits < 64 && n->value >> bits)
			pd_check_complain(c, path, "%s does not fit into %u bits", n->name, bits);
		for (const struct pd_name *m = names; m != n; m++) {
			if (strcmp(n->name, m->name) == 0)
				pd_check_complain(c, path, "two values have the name %s", n->name);
			if (n->value == m->value)
				pd_check_complain(c, path, "%s and %s have one value", n->name,
						  m->name);
		}
	}
}

static void check_part(struct pd_check *c, const char *path, const struct pd_bits *p,
		       uint64_t *seen)
{
	const uint64_t mask = ((p->width >= 64 ? 0 : 1ull << p->width) - 1) << p->shift;
	const bool named = p->show == PD_BIT_ENUM || p->show == PD_BIT_LIST ||
		p->show == PD_BIT_ENUM_LIST;

	if (*seen & mask)
		pd_check_complain(c, path, "%s has bits that another part has", p->name);
	*seen |= mask;
	if (named && !p->names)
		pd_check_complain(c, path, "%s has no names", p->name);
	else if (named)
		pd_check_names(c, path, p->names, p->width);
	check_key(c, path, p->name, p->key, p->key_size);
}

static void check_bits(struct pd_check *c, const struct pd_field *row, const char *path)
{
	const unsigned int size = 8u * row->width;
	uint64_t seen = 0;

	for (const struct pd_bits *p = row->bits; p->name; p++) {
		if (!p->width || p->shift + p->width > size) {
			pd_check_complain(c, path, "%s is not inside the word", p->name);
			return;
		}
		check_part(c, path, p, &seen);
	}
	for (const struct pd_name *n = row->show == PD_FLAGS ? row->names : NULL; n && n->name; n++)
		if (n->value & seen)
			pd_check_complain(c, path, "%s is among the bits of a number", n->name);
	if ((row->show == PD_BITS || row->show == PD_BITS_OBJECT) &&
	    seen != UINT64_MAX >> (64 - size))
		pd_check_complain(c, path, "some of its bits are not shown: 0x%" PRIx64, ~seen);
}

static void check_number(struct pd_check *c, const struct pd_field *row, const char *path)
{
	const bool bits = row->show == PD_BITS || row->show == PD_BITS_OBJECT ||
		row->show == PD_BITS_RAW;
	const bool names = row->show == PD_ENUM || row->show == PD_FLAGS || row->show == PD_MARKED;

	if (!is_power_width(row->width)) {
		pd_check_complain(c, path, "a number of %u bytes", row->width);
		return;
	}
	if (row->show == PD_FLOAT && row->width != 8)
		pd_check_complain(c, path, "a double of %u bytes", row->width);
	if (bits && !row->bits)
		pd_check_complain(c, path, "has no bits");
	if (names && !row->names)
		pd_check_complain(c, path, "has no names");
	else if (names)
		pd_check_names(c, path, row->names, 8u * row->width);
	if (row->bits)
		check_bits(c, row, path);
	if (row->kind == PD_NUMBERS &&
	    (bits || row->show == PD_ENUM || row->show == PD_FLAGS || row->show == PD_FLOAT))
		pd_check_complain(c, path, "the output has no form for such an array of numbers");
}

static void check_kind(struct pd_check *c, const struct pd_field *row, const char *path)
{
	switch (row->kind) {
	case PD_UINT:
	case PD_NUMBERS:
		check_number(c, row, path);
		break;
	case PD_REGISTERS:
		if (row->width != 8 ||
		    (row->count.from != PD_COUNT_REGS_USER &&
		     row->count.from != PD_COUNT_REGS_INTR))
			pd_check_complain(c, path,
					  "registers must have 8 bytes and a mask as count");
		break;
	case PD_CHARS:
	case PD_AREA:
		if (!row->width)
			pd_check_complain(c, path, "has no width");
		break;
	case PD_LITERAL:
		if (!row->literal || strlen(row->literal) + 1 < row->width)
			pd_check_complain(c, path, "its literal is shorter than its width");
		break;
	case PD_GROUP:
	case PD_STRUCT:
	case PD_ARRAY:
		if (!row->fields)
			pd_check_complain(c, path, "has no rows");
		break;
	}
	if (row->msb_first && !(row->kind == PD_UINT && row->bits))
		pd_check_complain(c, path, "msb_first, but no bit-fields");
	if (row->blob != PD_BLOB_SMALL && row->kind != PD_BYTES)
		pd_check_complain(c, path, "only bytes can be omitted");
	if (row->kind == PD_GROUP && row->when.left && row->when.on != PD_ALWAYS &&
	    row->when.on <= PD_ON_BRANCH_TYPE)
		pd_check_complain(c, path,
				  "a group whose condition depends on the attr can't also depend "
				  "on the bytes left");
}

static bool is_shown(const struct pd_field *row)
{
	return row->kind != PD_PAD && row->kind != PD_LITERAL && row->kind != PD_GROUP &&
		row->show != PD_HIDDEN;
}

static void check_doc(struct pd_check *c, const struct pd_field *row, const char *path)
{
	if (!row->doc || !row->doc[0])
		pd_check_complain(c, path, "has no doc");
	for (const char *p = row->doc; p && *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			pd_check_complain(c, path,
					  "its doc has a character that would need escaping");
}

static bool needs_role(const struct pd_field *row)
{
	switch (row->kind) {
	case PD_CSTR:
	case PD_ZSTR:
	case PD_CHARS:
	case PD_FSTR:
	case PD_TEXT:
	case PD_BYTES:
	case PD_AREA:
	case PD_REGISTERS:
		return true;
	default:
		/* how addresses are shown */
		return row->show == PD_HEX || row->show == PD_MARKED;
	}
}

static void check_role(struct pd_check *c, const struct pd_field *row, const char *path)
{
	if (needs_role(row) && row->role == PD_ROLE_UNSET)
		pd_check_complain(c, path, "text, bytes and addresses need a role");
	if (row->role >= PD_NR_ROLES || (row->fields && row->role != PD_ROLE_UNSET))
		pd_check_complain(c, path, "its kind can't have a role");
}

static void check_list(struct pd_check *c, const struct pd_field *rows, struct place *p);

static void check_inside(struct pd_check *c, const struct pd_field *row, struct place *p)
{
	struct place inside = { .depth = p->depth, .pads = p->pads };
	const char *end = row->kind == PD_ARRAY ? "[]." : ".";

	if (!row->fields)
		return;
	if (row->kind == PD_GROUP) {
		check_list(c, row->fields, p);
		return;
	}
	if (snprintf(inside.path, sizeof(inside.path), "%s%s%s", p->path, row->name,
		     end) >= PD_CHECK_PATH)
		pd_check_complain(c, inside.path, "a path of more than %d characters",
				  PD_CHECK_PATH - 1);
	inside.depth += !pd_check_is_bare(row);
	if (pd_check_is_bare(row) &&
	    (row->fields->kind == PD_CHARS || row->fields->kind == PD_CSTR ||
				      row->fields->kind == PD_AREA))
		pd_check_complain(c, inside.path, "a bare element that has padding");
	check_list(c, row->fields, &inside);
	if (inside.depth > MAX_DEPTH)
		pd_check_complain(c, inside.path, "deeper than %d", MAX_DEPTH);
}

/* Counts pads of alternatives, too: an upper bound. */
static void count_pads(struct pd_check *c, const struct pd_field *row, struct place *p)
{
	if (row->kind == PD_PAD || row->kind == PD_CSTR || row->kind == PD_CHARS ||
	    row->kind == PD_AREA || row->extent.from != PD_EXTENT_NONE)
		p->pads++;
	if (p->pads == MAX_PADS)
		pd_check_complain(c, p->path, "more than %d pads", MAX_PADS - 1);
}

static void check_list(struct pd_check *c, const struct pd_field *rows, struct place *p)
{
	for (; rows->kind != PD_END; rows++) {
		char path[2 * PD_CHECK_PATH];
		const bool bare = !rows->name[0] && rows->kind != PD_GROUP &&
			rows->kind != PD_LITERAL;

		snprintf(path, sizeof(path), "%s%s", p->path, rows->name);
		check_kind(c, rows, path);
		check_role(c, rows, path);
		if (rows->kind != PD_PAD && rows->kind != PD_GROUP && rows->kind != PD_LITERAL &&
		    !bare)
			check_key(c, path, rows->name, rows->key, rows->key_size);
		if (is_shown(rows) && !bare)
			check_doc(c, rows, path);
		count_pads(c, rows, p);
		check_inside(c, rows, p);
	}
}

void pd_check_rows(struct pd_check *c, const struct pd_field *rows)
{
	check_list(c, rows, &(struct place){ .depth = 0 });
}
