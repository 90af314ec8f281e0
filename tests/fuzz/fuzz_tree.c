/* fuzz_tree.c - any bytes as a perf.data file: the trees of its records, events and features are
 * whole. Items lie one after the other, each member is found by its path, and a tree with little
 * memory has the limit as its error, or the same items.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "pd/tree.h"
#include "pd/types.h"

enum { SMALL = 1 << 12, PATH = 256, PATHS = 64, NR_FEATURES = 40 };

static bool is_plain(const char *name)
{
	return !strpbrk(name, ".[]") && *name;
}

/* Returns the first member of this name. */
static const struct pd_item *first_of(const struct pd_item *of, const char *name)
{
	const struct pd_item *i = NULL;

	while ((i = pd_item_next(of, i)) && strcmp(i->name, name) != 0)
		;
	return i;
}

static void check_leaf(const struct pd_item *i)
{
	FUZZ_ASSERT(i->kind <= PD_ITEM_ARRAY && i->name, "an item of kind %d", (int)i->kind);
	if (i->kind >= PD_ITEM_OBJECT)
		return;
	FUZZ_ASSERT(!i->count && !i->below && !pd_item_next(i, NULL), "a value with members");
	if (i->kind == PD_ITEM_TEXT || i->kind == PD_ITEM_BYTES) {
		size_t sum = 0;

		for (size_t n = 0; n < i->bytes.size; n++)	/* for the sanitizers */
			sum += i->bytes.data[n];
		FUZZ_ASSERT(sum <= i->bytes.size * 255, "bytes");
	}
}

static void check_path(const struct pd_item *of, const struct pd_item *i, size_t index)
{
	char path[PATH];

	if (of->kind == PD_ITEM_ARRAY)
		snprintf(path, sizeof(path), "[%zu]", index);
	else if (is_plain(i->name) && strlen(i->name) < sizeof(path) && first_of(of, i->name) == i)
		snprintf(path, sizeof(path), "%s", i->name);
	else
		return;
	FUZZ_ASSERT(pd_item_get(of, path) == i, "%s is another item", path);
}

/* Returns the number of items in `of`, with itself. */
static size_t walk(const struct pd_item *of, size_t *paths)
{
	const struct pd_item *i = NULL;
	size_t members = 0, all = 1;

	check_leaf(of);
	while ((i = pd_item_next(of, i)) != NULL) {
		FUZZ_ASSERT(i == of + all, "an item at another place");
		if (members < PATHS && *paths) {
			--*paths;
			check_path(of, i, members);
		}
		members++;
		all += walk(i, paths);
	}
	FUZZ_ASSERT(members == of->count && all == of->below + 1, "%zu members of %zu", members,
		    of->count);
	return all;
}

static void check_tree(const struct pd_item *root, const struct pd_error *e)
{
	size_t paths = 1000;

	if (!root) {
		FUZZ_ASSERT(e->code != PD_OK, "no tree, and no reason");
		return;
	}
	FUZZ_ASSERT(root->kind == PD_ITEM_OBJECT && pd_item_get(root, "") == root, "no object");
	walk(root, &paths);
}

static void check_record(struct pd_tree *tree, struct pd_tree *small, const struct pd_record *r)
{
	struct pd_error e = { .code = PD_OK }, limited = { .code = PD_OK };
	const struct pd_item *root = pd_tree_read_record(tree, r, &e), *other;

	check_tree(root, &e);
	other = pd_tree_read_record(small, r, &limited);
	check_tree(other, &limited);
	FUZZ_ASSERT(!root || !other || root->below == other->below, "fewer items");
	FUZZ_ASSERT(other || !root || limited.code == PD_E_LIMIT, "%s",
		    pd_code_name(limited.code));
}

static void check_header(struct pd_tree *tree, struct pd_reader *r)
{
	struct pd_error e = { .code = PD_OK };

	check_tree(pd_tree_read_file(tree, r, &e), &e);
	for (size_t i = 0; i < pd_reader_nr_attrs(r) && i < PATHS; i++)
		check_tree(pd_tree_read_attr(tree, r, pd_reader_attr(r, i), &e), &e);
	for (uint32_t id = 0; id < NR_FEATURES; id++) {
		e.code = PD_OK;
		check_tree(pd_tree_read_feature(tree, r, id, &e), &e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_tree *tree = pd_tree_new(PD_TREE_OPTIONS(.memory_limit = FUZZ_MEMORY)),
		       *small = pd_tree_new(PD_TREE_OPTIONS(.memory_limit = SMALL));
	const uint64_t from = fuzz_cpu_time();
	uint64_t bytes = size;
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_memory(
		(struct pd_bytes){ data, size },
		PD_READER_OPTIONS(.memory_limit = FUZZ_MEMORY, .max_expanded = 16 << 20,
				  .max_ratio = 64), &e);

	FUZZ_ASSERT(tree && small, "no tree");
	while (r && pd_reader_next(r, &record, &e) == 1) {
		check_record(tree, small, record);
		bytes += pd_record_bytes(record).size;
	}
	if (r)
		check_header(tree, r);
	pd_reader_free(r);
	pd_tree_free(small);
	pd_tree_free(tree);
	fuzz_check_time(from, bytes);
	return 0;
}
