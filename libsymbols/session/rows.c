/* rows.c - call frame information that travels in the bundle: the rows that the recorder needed to
 * unwind the copied stacks. */
#include <string.h>

#include "image/sort.h"
#include "session/session.h"

#define ROWS_MEMORY (16u << 20)	/* taken from the budget of the session */

/* --- from the bundle --- */

struct ps_cfi *ps_session_given_cfi(struct ps_session *s, uint32_t image)
{
	const struct ps_bundle_image *given = s->given ? s->given[image] : NULL;

	if (!given || !given->nr_unwound)
		return NULL;
	return ps_cfi_given(&(struct ps_given_rows){ .addresses = given->unwound,
						     .rows = given->unwound_rows,
						     .nr = given->nr_unwound,
						     .items = given->rows }, &s->budget);
}

/* --- for the bundle --- */

void ps_session_keep_rows(struct ps_session *s, struct ps_cfi *cfi)
{
	if (!cfi || !s->collected)
		return;
	if (!s->rows_budget.limit) {
		if (!pd_budget_charge(&s->budget, ROWS_MEMORY))
			return;
		s->rows_budget.limit = ROWS_MEMORY;
		s->asked_rows.arena.budget = &s->rows_budget;
	}
	ps_cfi_keep_asked(cfi, &s->asked_rows);
}

void ps_session_free_rows(struct ps_session *s)
{
	pd_arena_free(&s->asked_rows.arena);
	if (s->rows_budget.limit)
		pd_budget_give_back(&s->budget, ROWS_MEMORY);
	s->rows_budget.limit = 0;
}

/* Rows that are the same are written once. */
struct row_table {
	struct ps_session *session;
	struct ps_bundle_image *image;
	struct pd_map by_hash;		/* hash -> index, plus 1 */
};

static uint64_t hash_of(struct pd_bytes b)
{
	uint64_t h = b.size + 1;

	for (size_t i = 0; i < b.size; i++) {
		h = (h ^ b.data[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

static uint32_t index_of(struct row_table *t, struct pd_bytes row)
{
	struct ps_bundle_image *image = t->image;
	const uint64_t key = hash_of(row);
	const size_t found = (uintptr_t)pd_map_find(&t->by_hash, key);

	if (found && image->rows[found - 1].size == row.size &&
	    !memcmp(image->rows[found - 1].data, row.data, row.size))
		return (uint32_t)found - 1;
	image->rows[image->nr_rows++] = row;
	if (!found)
		pd_map_add(&t->by_hash, key, (void *)(uintptr_t)image->nr_rows);
	return (uint32_t)image->nr_rows - 1;
}

static size_t count_asked(const struct ps_asked_row *asked)
{
	size_t n = 0;

	for (; asked; asked = asked->next)
		n++;
	return n;
}

/* Returns the n rows in the order of addresses, or NULL without memory. */
static const struct ps_asked_row **sort_asked(struct ps_session *s,
					      const struct ps_asked_row *asked, size_t n)
{
	const struct ps_asked_row **all = pd_arena_alloc(&s->arena, n * sizeof(*all));
	const struct ps_asked_row **sorted = pd_arena_alloc(&s->arena, n * sizeof(*sorted));
	struct ps_key *keys = pd_arena_alloc(&s->arena, n * sizeof(*keys));

	if (!all || !sorted || !keys)
		return NULL;
	for (size_t i = 0; i < n; i++, asked = asked->next) {
		all[i] = asked;
		keys[i] = (struct ps_key){ asked->vaddr, (uint32_t)i };
	}
	if (ps_sort_keys(keys, n, &s->budget))
		return NULL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = all[keys[i].index];
	return sorted;
}

/* Sets the rows of an image of a bundle. Without `elf` their addresses are those of a process. */
static void set_rows(struct ps_session *s, const struct ps_asked_row *asked,
		     const struct ps_elf *elf, struct ps_bundle_image *image)
{
	const size_t n = count_asked(asked);
	const struct ps_asked_row **sorted = n ? sort_asked(s, asked, n) : NULL;
	struct row_table t = { .session = s, .image = image, .by_hash.budget = &s->budget };
	uint64_t offset;

	if (!sorted)
		return;
	image->rows = pd_arena_alloc(&s->arena, n * sizeof(*image->rows));
	image->unwound = pd_arena_alloc(&s->arena, n * sizeof(*image->unwound));
	image->unwound_rows = pd_arena_alloc(&s->arena, n * sizeof(*image->unwound_rows));
	if (!image->rows || !image->unwound || !image->unwound_rows)
		return;
	for (size_t i = 0; i < n; i++) {
		offset = sorted[i]->vaddr;
		if ((i && sorted[i]->vaddr == sorted[i - 1]->vaddr) ||
		    (elf && !ps_elf_offset(elf, sorted[i]->vaddr, &offset)))
			continue;
		image->unwound[image->nr_unwound] = offset;
		image->unwound_rows[image->nr_unwound++] = index_of(&t, sorted[i]->bytes);
	}
	pd_map_free(&t.by_hash);
}

void ps_session_set_rows(struct ps_session *s, const struct ps_loaded *l,
			 struct ps_bundle_image *image)
{
	if (l->cfi && l->why == PD_WHY_FOUND)
		set_rows(s, ps_cfi_asked(l->cfi), &l->binary.image, image);
}

void ps_session_set_jit_rows(struct ps_session *s, const struct ps_asked_row *asked,
			     struct ps_bundle_image *image)
{
	set_rows(s, asked, NULL, image);
}
