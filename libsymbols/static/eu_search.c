/* eu_search.c - search trees for a static libdw. elfutils keeps these six functions in libeu.a,
 * and Debian 13 (elfutils 0.192) packages libdw.a and libelf.a without it. Linked last, so that a
 * libdw.a that has them uses its own.
 *
 * Without the lock that elfutils keeps with the root: each of our threads opens its own files.
 */
#include <search.h>
#include <stddef.h>

/* The first member of elfutils' search_tree. */
struct eu_tree {
	void *root;
};

typedef int (*compare_fn)(const void *, const void *);
typedef void (*free_fn)(void *);

void eu_search_tree_init(struct eu_tree *tree);
void eu_search_tree_fini(struct eu_tree *tree, free_fn release);
void *eu_tsearch(const void *key, struct eu_tree *tree, compare_fn compare);
void *eu_tfind(const void *key, struct eu_tree *tree, compare_fn compare);
void *eu_tdelete(const void *key, struct eu_tree *tree, compare_fn compare);
void eu_tdestroy(struct eu_tree *tree, free_fn release);

void eu_search_tree_init(struct eu_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct eu_tree *tree, free_fn release)
{
	eu_tdestroy(tree, release);
}

void *eu_tsearch(const void *key, struct eu_tree *tree, compare_fn compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct eu_tree *tree, compare_fn compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct eu_tree *tree, compare_fn compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct eu_tree *tree, free_fn release)
{
	tdestroy(tree->root, release);
	tree->root = NULL;
}
