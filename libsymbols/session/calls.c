/* calls.c - inlined functions and lines in a bundle. Each function has its caller, so that the
 * callers of addresses close to each other are there once. */
#include <string.h>

#include "session/collect.h"

/* Texts with numbers, which are kept by their addresses. */
struct numbering {
	struct ps_bundle_texts *texts;
	struct pd_map numbers;		/* address of a text -> its place in texts */
	bool failed;
};

struct call_table {
	struct ps_bundle_image *image;
	struct numbering names, files;
	/* the numbers of the latest address, the outermost first */
	uint32_t latest[PS_CHAIN_MAX];
	size_t nr_latest;
};

static uint32_t number_of(struct numbering *n, const char *text)
{
	const uint64_t key = (uintptr_t)text;
	struct pd_bytes *place;

	if (!text || !text[0])
		return 0;
	place = pd_map_find(&n->numbers, key);
	if (!place) {
		place = &n->texts->items[n->texts->nr++];
		*place = (struct pd_bytes){ (const uint8_t *)text, strlen(text) };
		n->failed |= pd_map_add(&n->numbers, key, place) < 0;
	}
	return (uint32_t)(place - n->texts->items) + 1;
}

static bool is_same_call(const struct ps_bundle_call *a, const struct ps_bundle_call *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->caller == b->caller;
}

/* Returns the number of the call, which the latest address may have at the same depth. */
static uint32_t add_call(struct call_table *t, const struct ps_bundle_call *call, size_t depth)
{
	struct ps_bundle_image *image = t->image;

	if (depth < t->nr_latest && is_same_call(&image->calls[t->latest[depth] - 1], call))
		return t->latest[depth];
	image->calls[image->nr_calls++] = *call;
	return (uint32_t)image->nr_calls;
}

/* Returns the number of the innermost call, or 0. */
static uint32_t add_chain(struct call_table *t, const struct ps_known *found)
{
	uint32_t number = 0;
	size_t depth = 0;

	for (size_t i = found->nr_functions; i-- > 1; depth++) {
		const struct pd_function *caller = &found->functions[i];
		const struct ps_bundle_call call = {
			.name = number_of(&t->names, found->functions[i - 1].linkage_name),
			.file = number_of(&t->files, caller->file), .line = caller->line,
			.caller = number,
		};

		number = add_call(t, &call, depth);
		t->latest[depth] = number;
	}
	t->nr_latest = depth;
	return number;
}

static void add_line(struct call_table *t, size_t i, const struct ps_known *found)
{
	if (!found->nr_functions)
		return;
	t->image->lines[i] = found->functions[0].line;
	t->image->line_files[i] = number_of(&t->files, found->functions[0].file);
}

/* Returns the number of functions with a name. */
static size_t count_functions(const struct ps_hit *const *hits, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += hits[i]->found.nr_functions;
	return count;
}

static bool have_lines(const struct ps_hit *const *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hits[i]->found.nr_functions && hits[i]->found.functions[0].line)
			return true;
	return false;
}

static uint32_t *alloc_numbers(struct ps_session *s, size_t n)
{
	return pd_arena_alloc(&s->arena, n * sizeof(uint32_t));
}

/* Returns whether there was memory. */
static bool alloc_tables(struct ps_session *s, struct ps_bundle_image *image, size_t functions,
			 bool with_lines)
{
	image->names.items = pd_arena_alloc(&s->arena, functions * sizeof(*image->names.items));
	image->files.items = pd_arena_alloc(&s->arena, functions * sizeof(*image->files.items));
	image->calls = pd_arena_alloc(&s->arena, functions * sizeof(*image->calls));
	image->inlined = alloc_numbers(s, image->nr);
	if (with_lines) {
		image->lines = alloc_numbers(s, image->nr);
		image->line_files = alloc_numbers(s, image->nr);
	}
	return image->names.items && image->files.items && image->calls && image->inlined &&
	       (!with_lines || (image->lines && image->line_files));
}

void ps_session_set_calls(struct ps_session *s, const struct ps_hit *const *hits,
			  struct ps_bundle_image *image)
{
	const size_t functions = count_functions(hits, image->nr);
	const bool with_lines = have_lines(hits, image->nr);
	struct call_table t = {
		.image = image,
		.names = { .texts = &image->names, .numbers.budget = &s->budget },
		.files = { .texts = &image->files, .numbers.budget = &s->budget },
	};
	bool failed = !alloc_tables(s, image, functions, with_lines);

	for (size_t i = 0; i < image->nr && !failed; i++) {
		image->inlined[i] = add_chain(&t, &hits[i]->found);
		if (with_lines)
			add_line(&t, i, &hits[i]->found);
		failed = t.names.failed || t.files.failed;
	}
	pd_map_free(&t.names.numbers);
	pd_map_free(&t.files.numbers);
	if (failed)
		image->names.nr = image->files.nr = image->nr_calls = 0;
	if (failed || !image->nr_calls)
		image->inlined = NULL;
	if (failed)
		image->lines = image->line_files = NULL;
}
