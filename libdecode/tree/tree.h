/* tree.h - the items of a tree while it is built. They are in the order of the JSON, each followed
 * by those inside it. */
#ifndef PD_TREE_TREE_H
#define PD_TREE_TREE_H

#include "base/arena.h"
#include "pd/tree.h"
#include "reader/reader.h"

struct pd_tree {
	struct pd_budget budget;
	struct pd_arena texts;		/* names and bytes that are not in the input */
	struct pd_item *items;
	size_t nr, capacity;
	size_t open;			/* innermost item that is not closed; its `below` is the
					 * one around it */
	enum pd_code code;		/* why an item is missing, or PD_OK */
	struct pd_item unused;		/* replaces items for which there is no memory */
	struct pd_session *session;
	const struct pd_record *record;	/* that is read, or NULL */
	struct pd_bytes raw_data;	/* the last bytes that were seen: the data of `raw` */
};

/* Removes all items and opens the outermost object. */
void pd_tree_begin(struct pd_tree *t, struct pd_session *session);
/* Closes it. Returns it, or NULL and *e. */
const struct pd_item *pd_tree_end(struct pd_tree *t, struct pd_error *e);

/* Appends an item to the innermost open one. Valid until the next one is appended. */
struct pd_item *pd_tree_add(struct pd_tree *t, enum pd_item_kind kind, const char *name);
/* Appends an OBJECT or ARRAY, which takes what is appended until it is closed. */
struct pd_item *pd_tree_open(struct pd_tree *t, enum pd_item_kind kind, const char *name);
void pd_tree_close(struct pd_tree *t);

void pd_tree_add_number(struct pd_tree *t, const char *name, uint64_t number, const char *word);
void pd_tree_add_bytes(struct pd_tree *t, enum pd_item_kind kind, const char *name,
		       struct pd_bytes bytes);
/* `text` must live as long as the tree's source. */
void pd_tree_add_text(struct pd_tree *t, const char *name, const char *text);
/* Appends an array of the names of the bits that are set. */
void pd_tree_add_flags(struct pd_tree *t, const char *name, const struct pd_name *names,
		       uint64_t word);
/* Appends the members of a feature's object under `features`. In pipe mode zeros may follow it. */
void pd_tree_add_feature(struct pd_tree *t, uint64_t id, struct pd_bytes section,
			 enum pd_mode mode);

/* Returns the tree's own copy of a name made of two parts, or "". */
const char *pd_tree_join(struct pd_tree *t, const char *front, const char *back);

/* Returns room for a text or bytes of the tree's own, or NULL. */
char *pd_tree_room(struct pd_tree *t, size_t size);

/* Appends the fields that it is given; the context is the tree. */
extern const struct pd_visitor pd_tree_visitor;

#endif
