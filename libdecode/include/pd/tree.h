/* tree.h - everything that the JSON shows, as values in memory: of a record, an event, a feature or
 * the file. Values are found by the path that they have in the JSON, or one after the other:
 *
 *	struct pd_tree *tree = pd_tree_new(NULL);
 *	const struct pd_item *root, *from, *i = NULL;
 *
 *	root = pd_tree_read_record(tree, record, &e);
 *	from = pd_item_get(root, "branch_stack.entries[3].from");
 *	if (from)
 *		use(from->number);
 *	while ((i = pd_item_next(pd_item_get(root, "raw.tracepoint.fields"), i)))
 *		use(i->name);
 *
 * For few fields of many records, pd_record_get_number() and pd/fields.h are faster: they look at
 * one field, a tree at all of them.
 *
 * Threads: calls on one tree must not overlap, nor those that read into it with others on the
 * reader. Its items may be read by any number of threads.
 *
 * Lifetime: items are valid until the tree is read into again or freed. Their names, words and
 * bytes are those of what was read: of a record until the next pd_reader_next(), of an event or the
 * file until pd_reader_free(), of a feature until the next pd_reader_feature().
 */
#ifndef PD_TREE_H
#define PD_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pd_attr;
struct pd_reader;
struct pd_record;
struct pd_tree;

enum pd_item_kind {
	PD_ITEM_NUMBER,		/* number */
	PD_ITEM_SIGNED,		/* number, in two's complement */
	PD_ITEM_ADDRESS,	/* number; hex in the JSON */
	PD_ITEM_REAL,		/* real; number has its bits */
	PD_ITEM_TEXT,		/* bytes, which may be any, not only UTF-8 */
	PD_ITEM_BYTES,		/* bytes */
	PD_ITEM_OBJECT,		/* members by name */
	PD_ITEM_ARRAY,		/* members by index */
};

struct pd_item {
	const char *name;	/* as in the JSON; "" in an array, and for the whole tree */
	enum pd_item_kind kind;
	uint32_t reserved;
	uint64_t number;	/* also of an OBJECT or ARRAY that shows the bits of a word, and of
				 * the TEXT that names some of them */
	double real;
	const char *word;	/* the name of an enumeration's value, or NULL: it has none */
	struct pd_bytes bytes;
	size_t count;		/* members of an OBJECT or ARRAY */
	size_t below;		/* items inside, at any depth */
};

struct pd_tree_options {
	size_t size;		/* PD_TREE_OPTIONS() sets it */
	uint64_t memory_limit;	/* bytes; 0: 256 MiB */
};
#define PD_TREE_OPTIONS(...) PD_OPTIONS_OF(pd_tree_options, __VA_ARGS__)

/* Creates an empty tree. `o` is copied and may be NULL. Returns NULL without memory, or for invalid
 * options. Free it with pd_tree_free(). */
PD_API struct pd_tree *pd_tree_new(const struct pd_tree_options *o);

/* Frees the tree and its items. `t` may be NULL. */
PD_API void pd_tree_free(struct pd_tree *t);

/* The functions below replace what is in the tree. They return its outermost item, an OBJECT, valid
 * until the next of these calls; or NULL and *e: PD_E_LIMIT or PD_E_NOMEM, PD_E_ARGUMENT for what
 * does not exist. */

/* Reads a record: the members of an object in `records`, except the `data` of payloads, for which
 * there is pd_reader_read_payload(). Valid until the next read into the tree. */
PD_API const struct pd_item *pd_tree_read_record(struct pd_tree *t, const struct pd_record *r,
						 struct pd_error *e);

/* Reads an event: the members of an object in `attrs`. Valid until the next read into the tree. */
PD_API const struct pd_item *pd_tree_read_attr(struct pd_tree *t, struct pd_reader *r,
					       const struct pd_attr *a, struct pd_error *e);

/* Reads the feature of that id (enum pd_feature_id), with its name as the first part of paths:
 * "NRCPUS.online". In a pipe, features are known after their records. The error may also be that
 * of pd_reader_feature(). Valid until the next read into the tree. */
PD_API const struct pd_item *pd_tree_read_feature(struct pd_tree *t, struct pd_reader *r,
						  uint32_t id, struct pd_error *e);

/* Reads what the JSON has in `file`. Valid until the next read into the tree. */
PD_API const struct pd_item *pd_tree_read_file(struct pd_tree *t, struct pd_reader *r,
					       struct pd_error *e);

/* Returns the item at a path from `of`: names separated by dots, indices of arrays in brackets; ""
 * is `of` itself. NULL if there is none. Valid until the next read into the tree. Safe in any
 * thread. `of` may be NULL. */
PD_API const struct pd_item *pd_item_get(const struct pd_item *of, const char *path);

/* Returns the member of `of` after `last`, or the first if `last` is NULL; NULL after the last one.
 * Valid until the next read into the tree. Safe in any thread. `of` may be NULL. */
PD_API const struct pd_item *pd_item_next(const struct pd_item *of, const struct pd_item *last);

#ifdef __cplusplus
}
#endif
#endif
