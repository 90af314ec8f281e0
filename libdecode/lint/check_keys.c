/* check_keys.c - keys of the output: unique within an object, and with one type per path in all
 * tables.
 */
#include "lint/check_tables.h"

#include <stdio.h>
#include <string.h>

#define MAX_CONDITIONS 8

/* A key of the current object, with the conditions that lead to it. */
struct key {
	struct key *next;
	const char *name;
	const struct pd_when *when[MAX_CONDITIONS];
	unsigned int nr;
};

struct object {
	struct key *keys;
	const char *prefix;
	const struct pd_when *when[MAX_CONDITIONS];	/* of the outer groups */
	unsigned int nr;
};

static bool exclude_each_other(const struct pd_when *a, const struct pd_when *b)
{
	if (a->on != b->on ||
	    (a->sibling ? !b->sibling || strcmp(a->sibling, b->sibling) != 0 : b->sibling != NULL))
		return false;
	if (a->on == PD_ON_EQUAL && !a->unless && !b->unless)
		return a->value != b->value;
	if (a->on == PD_ON_TEST)
		return a->test == b->test && a->unless != b->unless;
	return a->on != PD_ALWAYS && a->value == b->value && a->unless != b->unless;
}

static bool are_exclusive(const struct key *a, const struct key *b)
{
	for (unsigned int i = 0; i < a->nr; i++)
		for (unsigned int j = 0; j < b->nr; j++)
			if (exclude_each_other(a->when[i], b->when[j]))
				return true;
	return false;
}

static void add_type(struct pd_check *c, const char *path, const char *type)
{
	struct pd_check_path *p;

	for (p = c->paths; p; p = p->next)
		if (strcmp(p->path, path) == 0)
			break;
	if (p) {
		if (strcmp(p->type, type) != 0)
			pd_check_complain(c, path, "is %s, but %s in %s", type, p->type, p->table);
		return;
	}
	p = pd_arena_alloc(&c->arena, sizeof(*p));
	if (!p)
		return;
	*p = (struct pd_check_path){ c->paths, pd_arena_text(&c->arena, path, strlen(path)), type,
				     c->table };
	c->paths = p;
}

static void add_key(struct pd_check *c, struct object *o, const char *name,
		    const struct pd_when *when, const char *type)
{
	struct key *key = pd_arena_alloc(&c->arena, sizeof(*key));
	char path[PD_CHECK_PATH];

	if (!key)
		return;
	snprintf(path, sizeof(path), "%s%s", o->prefix, name);
	*key = (struct key){ .next = o->keys, .name = name, .nr = o->nr };
	memcpy(key->when, o->when, sizeof(key->when));
	if (when && key->nr < MAX_CONDITIONS)
		key->when[key->nr++] = when;
	for (const struct key *k = o->keys; k; k = k->next)
		if (strcmp(k->name, name) == 0 && !are_exclusive(k, key))
			pd_check_complain(c, path, "two rows with this name can exist at once");
	o->keys = key;
	add_type(c, path, type);
}

static const char *type_of(const struct pd_field *row)
{
	switch (row->kind) {
	case PD_UINT:
		switch (row->show) {
		case PD_HEX:
		case PD_ENUM:
		case PD_ORDER:
			return "a string";
		case PD_FLOAT:
			return "a number";
		case PD_FLAGS:
		case PD_BITS_OBJECT:
		case PD_BITS_RAW:
			return "an object";
		}
		return "an integer";
	case PD_NUMBERS:
		return row->show == PD_HEX || row->show == PD_MARKED ? "an array of strings" :
			"an array of integers";
	case PD_STRUCT:
	case PD_FEATURE:
	case PD_REGISTERS:
		return "an object";
	case PD_ARRAY:
		if (!pd_check_is_bare(row))
			return "an array of objects";
		return row->fields->kind == PD_UINT ? "an array of integers" :
			"an array of strings";
	default:
		return "a string";
	}
}

static const char *type_of_part(const struct pd_bits *bits)
{
	if (bits->show == PD_BIT_ENUM)
		return "a string";
	return bits->show == PD_BIT_LIST || bits->show == PD_BIT_ENUM_LIST ? "an array of strings" :
		"an integer";
}

static void add_rows(struct pd_check *c, struct object *o, const struct pd_field *rows);

static void add_parts(struct pd_check *c, struct object *o, const struct pd_field *row,
		      const struct pd_when *when)
{
	char prefix[2 * PD_CHECK_PATH];
	struct object inside = { .prefix = prefix };
	const bool flat = row->show == PD_BITS || row->show == PD_FLAGS;

	snprintf(prefix, sizeof(prefix), "%s%s.", o->prefix, row->name);
	for (const struct pd_bits *p = row->bits; p && p->name; p++)
		if (flat)
			add_key(c, o, p->name, when, type_of_part(p));
		else
			add_key(c, &inside, p->name, NULL, type_of_part(p));
}

static void add_row(struct pd_check *c, struct object *o, const struct pd_field *row)
{
	const struct pd_when *when = row->when.on != PD_ALWAYS ? &row->when : NULL;
	char prefix[2 * PD_CHECK_PATH];
	struct object inside = { .prefix = prefix };

	if (row->show != PD_BITS)
		add_key(c, o, row->name, when, type_of(row));
	if (row->kind == PD_UINT)
		add_parts(c, o, row, when);
	if (!row->fields)
		return;
	snprintf(prefix, sizeof(prefix), "%s%s%s", o->prefix, row->name, row->kind == PD_ARRAY ?
		 "[]." : ".");
	if (!pd_check_is_bare(row))
		add_rows(c, &inside, row->fields);
}

static void add_rows(struct pd_check *c, struct object *o, const struct pd_field *rows)
{
	for (; rows->kind != PD_END; rows++) {
		const bool conditional = rows->when.on != PD_ALWAYS;

		if (rows->kind == PD_GROUP) {
			if (conditional && o->nr < MAX_CONDITIONS)
				o->when[o->nr++] = &rows->when;
			add_rows(c, o, rows->fields);
			o->nr -= conditional;
		} else if (rows->kind != PD_PAD && rows->kind != PD_LITERAL &&
			   rows->show != PD_HIDDEN) {
			add_row(c, o, rows);
		}
	}
}

/* Checks against keys that the output adds to those of the rows. */
static void check_suffixes(struct pd_check *c, const struct object *o)
{
	static const char *const suffixes[] = { "_hex", "_raw" };

	for (const struct key *k = o->keys; k; k = k->next) {
		size_t size = strlen(k->name);

		if (strcmp(k->name, "padding") == 0)
			pd_check_complain(c, k->name, "is the key of reserved bytes");
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
			if (size > 4 && strcmp(k->name + size - 4, suffixes[i]) == 0)
				pd_check_complain(c, k->name,
						  "ends as the additional keys of a text or "
						  "feature do");
	}
}

void pd_check_keys(struct pd_check *c, const struct pd_field *rows, const char *prefix)
{
	struct object o = { .prefix = prefix };

	add_rows(c, &o, rows);
	check_suffixes(c, &o);
}
