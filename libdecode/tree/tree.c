/* tree.c - the items of a tree: storage, paths, iteration. */
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"

#define FIRST_CAPACITY 64

struct pd_tree *pd_tree_new(const struct pd_tree_options *o)
{
	struct pd_tree_options options = { .size = sizeof(options) };
	struct pd_tree *t;

	if (o && pd_options_take(&options, sizeof(options), o, o->size))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->budget.limit = options.memory_limit ? options.memory_limit : PD_MEMORY_LIMIT;
	t->texts.budget = &t->budget;
	return t;
}

void pd_tree_free(struct pd_tree *t)
{
	if (!t)
		return;
	pd_arena_free(&t->texts);
	pd_budget_free(&t->budget, t->items, t->capacity * sizeof(*t->items));
	free(t);
}

static void note_no_memory(struct pd_tree *t, size_t size)
{
	const struct pd_budget *b = &t->budget;

	if (t->code == PD_OK)
		t->code = b->limit - b->used >= size ? PD_E_NOMEM : PD_E_LIMIT;
}

char *pd_tree_room(struct pd_tree *t, size_t size)
{
	char *room = pd_arena_alloc(&t->texts, size);

	if (!room)
		note_no_memory(t, size);
	return room;
}

static int grow_items(struct pd_tree *t)
{
	const size_t now = t->capacity * sizeof(*t->items);
	const size_t more = now ? 2 * now : FIRST_CAPACITY * sizeof(*t->items);
	struct pd_item *items = NULL;

	if (t->code == PD_OK && now <= SIZE_MAX / 4)
		items = pd_budget_grow(&t->budget, t->items, now, more);
	if (!items) {
		note_no_memory(t, more - now);
		return -1;
	}
	t->items = items;
	t->capacity = more / sizeof(*items);
	return 0;
}

struct pd_item *pd_tree_add(struct pd_tree *t, enum pd_item_kind kind, const char *name)
{
	struct pd_item *item = &t->unused;

	if (t->nr < t->capacity || grow_items(t) == 0) {
		if (t->nr)
			t->items[t->open].count++;
		item = &t->items[t->nr++];
	}
	*item = (struct pd_item){ .kind = kind, .name = name };
	return item;
}

struct pd_item *pd_tree_open(struct pd_tree *t, enum pd_item_kind kind, const char *name)
{
	struct pd_item *item = pd_tree_add(t, kind, name);

	if (t->code != PD_OK)
		return item;
	item->below = t->open;
	t->open = t->nr - 1;
	return item;
}

void pd_tree_close(struct pd_tree *t)
{
	struct pd_item *item;
	size_t around;

	if (t->code != PD_OK)
		return;
	item = &t->items[t->open];
	around = item->below;
	item->below = t->nr - 1 - t->open;
	t->open = around;
}

void pd_tree_begin(struct pd_tree *t, struct pd_session *session)
{
	pd_arena_free(&t->texts);
	t->nr = t->open = 0;
	t->code = PD_OK;
	t->session = session;
	t->record = NULL;
	t->raw_data = (struct pd_bytes){ NULL, 0 };
	pd_tree_open(t, PD_ITEM_OBJECT, "");
}

const struct pd_item *pd_tree_end(struct pd_tree *t, struct pd_error *e)
{
	if (t->code != PD_OK) {
		*e = (struct pd_error){ .code = t->code, .severity = PD_DAMAGED };
		return NULL;
	}
	pd_tree_close(t);
	return t->items;
}

void pd_tree_add_number(struct pd_tree *t, const char *name, uint64_t number, const char *word)
{
	struct pd_item *item = pd_tree_add(t, PD_ITEM_NUMBER, name);

	item->number = number;
	item->word = word;
}

void pd_tree_add_bytes(struct pd_tree *t, enum pd_item_kind kind, const char *name,
		       struct pd_bytes bytes)
{
	pd_tree_add(t, kind, name)->bytes = bytes;
}

void pd_tree_add_text(struct pd_tree *t, const char *name, const char *text)
{
	pd_tree_add_bytes(t, PD_ITEM_TEXT, name,
			  (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

const struct pd_item *pd_item_next(const struct pd_item *of, const struct pd_item *last)
{
	const struct pd_item *next;

	if (!of)
		return NULL;
	next = last ? last + 1 + last->below : of + 1;
	return next < of + 1 + of->below ? next : NULL;
}

/* Returns the member whose name is the first n characters of `name`. */
static const struct pd_item *member(const struct pd_item *of, const char *name, size_t n)
{
	const struct pd_item *i = NULL;

	while (of->kind == PD_ITEM_OBJECT && (i = pd_item_next(of, i)))
		if (strncmp(i->name, name, n) == 0 && !i->name[n])
			return i;
	return NULL;
}

/* Returns the element that "[3]" names, and moves *path after it. */
static const struct pd_item *element(const struct pd_item *of, const char **path)
{
	const struct pd_item *i = NULL;
	const char *at = *path + 1;
	uint64_t index = 0;

	if (*at < '0' || *at > '9' || of->kind != PD_ITEM_ARRAY)
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++) {
		index = 10 * index + (uint64_t)(*at - '0');
		if (index >= of->count)
			return NULL;
	}
	if (*at != ']')
		return NULL;
	*path = at + 1;
	do
		i = pd_item_next(of, i);
	while (i && index--);
	return i;
}

const struct pd_item *pd_item_get(const struct pd_item *of, const char *path)
{
	bool first = true;

	if (!path)
		return NULL;
	for (; of && *path; first = false) {
		size_t n;

		if (*path == '[') {
			of = element(of, &path);
			continue;
		}
		if (*path == '.' && !first)
			path++;
		else if (!first)
			return NULL;
		n = strcspn(path, ".[");
		of = member(of, path, n);
		path += n;
	}
	return of;
}

#define NAME_SIZE 64	/* bytes of a feature's name with its suffix */

const char *pd_tree_join(struct pd_tree *t, const char *front, const char *back)
{
	char *name = pd_tree_room(t, NAME_SIZE);

	if (name)
		snprintf(name, NAME_SIZE, "%s%s", front, back);
	return name ? name : "";
}
