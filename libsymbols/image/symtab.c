/* symtab.c - a sorted table of named address ranges: see symtab.h. */
#include "image/symtab.h"

#include <string.h>

#include "image/sort.h"

#define PAGE 4096
#define NOTHING UINT32_MAX
#define DEPTH_MAX 64		/* of symbols inside each other */

struct ps_symtab_entry {
	uint64_t start, end;	/* without a size: `end` is that of its section at first */
	const char *name;
	uint32_t name_size;
	uint32_t outer;		/* the next larger one that may contain an address after the end */
	uint8_t binding, source, depth;
	bool has_no_size;
};

static struct ps_symbol symbol_of(const struct ps_symtab_entry *e)
{
	return (struct ps_symbol){ .start = e->start, .end = e->end, .name = e->name,
				   .name_size = e->name_size, .binding = e->binding,
				   .source = e->source };
}

int ps_symtab_reserve(struct ps_symtab *t, size_t nr)
{
	struct ps_symtab_entry *e = t->entries;

	if (nr <= t->capacity)
		return 0;
	if (nr >= NOTHING)
		return -1;
	/* memory that is new need not be cleared */
	e = e ? pd_budget_grow(t->budget, e, t->capacity * sizeof(*e), nr * sizeof(*e)) :
		pd_budget_alloc(t->budget, nr * sizeof(*e));
	if (!e)
		return -1;
	t->entries = e;
	t->capacity = nr;
	return 0;
}

void ps_symtab_add(struct ps_symtab *t, const struct ps_symbol *s, uint64_t limit)
{
	const bool has_no_size = s->end == s->start;

	if (t->failed || s->end < s->start || (has_no_size && limit <= s->start))
		return;
	if (t->nr == t->capacity && ps_symtab_reserve(t, t->capacity ? t->capacity * 2 : 64)) {
		t->failed = true;
		return;
	}
	t->entries[t->nr++] = (struct ps_symtab_entry){
		.start = s->start, .end = has_no_size ? limit : s->end, .name = s->name,
		.name_size = s->name_size, .binding = s->binding, .source = s->source,
		.has_no_size = has_no_size
	};
}

/* --- sealing --- */

static int underscores(const struct ps_symtab_entry *s)
{
	uint32_t n = 0;

	while (n < s->name_size && s->name[n] == '_')
		n++;
	return (int)n;
}

static bool has_version(const struct ps_symtab_entry *s)
{
	return s->name_size && memchr(s->name, '@', s->name_size);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Orders aliases, so that the output does not depend on the order in a file: the better one is
 * less. A PLT entry has no name of its own; an extent has none at all. */
static int compare_aliases(const struct ps_symtab_entry *a, const struct ps_symtab_entry *b)
{
	const uint32_t shorter = a->name_size < b->name_size ? a->name_size : b->name_size;
	int order = !a->name_size - !b->name_size;

	if (!order)
		order = (a->source == PS_FROM_PLT) - (b->source == PS_FROM_PLT);
	if (!order)
		order = a->has_no_size - b->has_no_size;
	if (!order)
		order = b->binding - a->binding;
	if (!order)
		order = has_version(a) - has_version(b);
	if (!order)
		order = underscores(a) - underscores(b);
	if (!order)
		order = compare_numbers(a->name_size, b->name_size);
	if (!order && shorter)
		order = memcmp(a->name, b->name, shorter);
	if (!order && !a->has_no_size)
		order = compare_numbers(b->end, a->end);
	return order ? order : a->source - b->source;
}

/* Puts the best entry of each address into `sorted`, in order. Without keys they are in order
 * already, and `sorted` may be the table's own. Returns their number. */
static size_t choose_aliases(const struct ps_symtab *t, const struct ps_key *keys,
			     struct ps_symtab_entry *sorted)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct ps_symtab_entry *e = &t->entries[keys ? keys[i].index : i];

		if (n == i && e == &sorted[i] && (!n || sorted[n - 1].start != e->start))
			n++;	/* is in its place */
		else if (!n || sorted[n - 1].start != e->start)
			sorted[n++] = *e;
		else if (compare_aliases(e, &sorted[n - 1]) < 0)
			sorted[n - 1] = *e;
	}
	return n;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Gives ends to symbols without a size. */
static void end_symbols(struct ps_symtab_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ps_symtab_entry *e = &entries[i];
		const uint64_t page = e->start + PAGE;

		if (!e->has_no_size)
			continue;
		e->end = page > e->start ? least(e->end, page) : e->end;
		if (i + 1 < n)
			e->end = least(e->end, e[1].start);
	}
}

/* Returns whether an entry is a place inside a function that the file's own assembly jumps to, as
 * construct_stub_create_deopt_addr of V8. An FDE has no name, so what it surrounds is the
 * function. */
static bool is_inner_label(const struct ps_symtab_entry *e, const struct ps_symtab_entry *outer)
{
	return e->has_no_size && e->binding == PS_LOCAL && outer->name_size && !outer->has_no_size;
}

/* Links each entry to the one that surrounds it. Past DEPTH_MAX the outermost are forgotten, so
 * that a search takes bounded time. A label inside a function ends with the function; local ones
 * are removed. Returns how many entries are left. */
static size_t nest_entries(struct ps_symtab_entry *entries, size_t n)
{
	uint32_t open = NOTHING;	/* innermost entry that has not ended yet */
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct ps_symtab_entry *e = &entries[kept];

		while (open != NOTHING && entries[open].end <= entries[i].start)
			open = entries[open].outer;
		if (open != NOTHING && is_inner_label(&entries[i], &entries[open]))
			continue;
		if (kept < i)
			*e = entries[i];
		e->outer = open;
		e->depth = open == NOTHING ? 0 : (uint8_t)(entries[open].depth + 1);
		if (e->has_no_size && open != NOTHING)
			e->end = least(e->end, entries[open].end);
		if (e->depth >= DEPTH_MAX) {
			e->outer = NOTHING;
			e->depth = 0;
		}
		open = (uint32_t)kept++;
	}
	return kept;
}

static int index_starts(struct ps_symtab *t)
{
	pd_budget_free(t->budget, t->starts, t->nr_starts * sizeof(*t->starts));
	t->nr_starts = t->nr;
	t->starts = pd_budget_alloc(t->budget, t->nr * sizeof(*t->starts));
	if (!t->starts) {
		t->nr_starts = 0;
		return -1;
	}
	for (size_t i = 0; i < t->nr; i++)
		t->starts[i] = t->entries[i].start;
	return 0;
}

static struct ps_key *sort_entries(const struct ps_symtab *t)
{
	struct ps_key *keys = pd_budget_alloc(t->budget, t->nr * sizeof(*keys));

	if (!keys)
		return NULL;
	for (size_t i = 0; i < t->nr; i++)
		keys[i] = (struct ps_key){ t->entries[i].start, (uint32_t)i };
	if (ps_sort_keys(keys, t->nr, t->budget)) {
		pd_budget_free(t->budget, keys, t->nr * sizeof(*keys));
		return NULL;
	}
	return keys;
}

static bool is_sorted(const struct ps_symtab *t)
{
	for (size_t i = 1; i < t->nr; i++)
		if (t->entries[i].start < t->entries[i - 1].start)
			return false;
	return true;
}

/* Sorts the entries and leaves the best one of each address. Returns 0, or -1 without memory. */
static int sort_table(struct ps_symtab *t)
{
	struct ps_symtab_entry *sorted;
	struct ps_key *keys;
	size_t n;

	keys = sort_entries(t);
	if (!keys)
		return -1;
	sorted = pd_budget_alloc(t->budget, t->nr * sizeof(*sorted));
	n = sorted ? choose_aliases(t, keys, sorted) : 0;
	pd_budget_free(t->budget, keys, t->nr * sizeof(*keys));
	if (!sorted)
		return -1;
	pd_budget_free(t->budget, t->entries, t->capacity * sizeof(*t->entries));
	t->entries = sorted;
	t->capacity = t->nr;
	t->nr = n;
	return 0;
}

int ps_symtab_seal(struct ps_symtab *t)
{
	if (t->failed)
		return -1;
	if (is_sorted(t))
		t->nr = choose_aliases(t, NULL, t->entries);
	else if (sort_table(t))
		return -1;
	end_symbols(t->entries, t->nr);
	t->nr = nest_entries(t->entries, t->nr);
	return index_starts(t);
}

/* --- searching --- */

/* Returns the number of symbols that start at or before the address. */
static size_t count_until(const struct ps_symtab *t, uint64_t address)
{
	const uint64_t *from = t->starts;
	size_t n = t->nr_starts;

	while (n > 1) {
		const size_t half = n / 2;

		from += from[half - 1] <= address ? half : 0;
		n -= half;
	}
	return (size_t)(from - t->starts) + (n && *from <= address);
}

bool ps_symtab_find(const struct ps_symtab *t, uint64_t address, struct ps_symbol *out)
{
	size_t i = count_until(t, address);

	for (i = i ? i - 1 : NOTHING; i != NOTHING; i = t->entries[i].outer) {
		if (address >= t->entries[i].end)
			continue;
		*out = symbol_of(&t->entries[i]);
		return true;
	}
	return false;
}

struct ps_symbol ps_symtab_at(const struct ps_symtab *t, size_t i)
{
	return symbol_of(&t->entries[i]);
}

void ps_symtab_free(struct ps_symtab *t)
{
	pd_budget_free(t->budget, t->starts, t->nr_starts * sizeof(*t->starts));
	pd_budget_free(t->budget, t->entries, t->capacity * sizeof(*t->entries));
	*t = (struct ps_symtab){ .budget = t->budget };
}
