/* pack_internal.h - state and functions of a pack run, shared by pack.c, pack_out.c, pack_members.c
 * and pack_leaf.c.
 */
#ifndef PD_PACK_PACK_INTERNAL_H
#define PD_PACK_PACK_INTERNAL_H

#include "pack/pack.h"

#define PD_PACK_DEPTH 12
#define PD_PACK_USED 256

/* An object of the source; groups share that of the outer list. */
struct pd_packed_object {
	pd_node node;
	struct pd_bytes padding;	/* remaining bytes of its `padding` */
	struct pd_buf padding_bytes;
	unsigned int first_used;
};

struct pd_pack_scope {
	const struct pd_op_list *list;
	pd_node object;
	struct pd_packed_object *in;
	size_t start;			/* of the list in out */
	size_t end;			/* of the extent in out, or PD_SIZE_OPEN */
};

struct pd_packer {
	const struct pd_pack *how;
	const struct pd_values *v;
	struct pd_buf *out;
	struct pd_pack_error *e;
	enum pd_swap swap;
	size_t base;			/* of the body in out */
	size_t fields_end;		/* offset in out where `trailing` begins, or PD_SIZE_OPEN */
	unsigned int depth, nr_used;
	const struct pd_field *used[PD_PACK_USED];	/* rows present in the open objects */
	const char *names[PD_PACK_DEPTH];	/* path for errors; NULL: an array element */
	size_t indices[PD_PACK_DEPTH];
	uint64_t slots[PD_SLOTS];
	size_t patch_at[PD_SLOTS];	/* 1 + offset of a size to be patched, or 0 */
	uint16_t patch_width[PD_SLOTS];
};

/* --- pack_out.c --- */

/* Records the first failure and returns -1. `last`: the member below the path, or NULL. */
int pd_pack_fail(struct pd_packer *p, const char *last, enum pd_code code, const char *text);

/* Appends a member to the path, or an element if name is NULL. */
int pd_pack_enter(struct pd_packer *p, const char *name, size_t index);

void pd_pack_store(struct pd_packer *p, uint64_t v, unsigned int width);

/* Appends the bytes of a node, hex text or bytes; returns -1 if it is neither. */
int pd_pack_append_blob(struct pd_packer *p, pd_node n);

/* Returns the member `name` + `suffix`, or NULL. */
pd_node pd_pack_suffixed(struct pd_packer *p, pd_node object, const char *name, const char *suffix);

/* Appends a text, preferring the exact bytes of its _hex member. Sets *size to the bytes
 * appended. */
int pd_pack_append_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_field *f,
			pd_node n, size_t *size);

/* Appends n bytes of the object's `padding`, then zeros. */
int pd_pack_append_padding(struct pd_packer *p, struct pd_pack_scope *s, size_t n);

/* --- pack_members.c --- */

/* Returns whether a member of this name belongs to the row or to one of its parts. */
bool pd_pack_row_has_key(const struct pd_field *f, const char *name);

/* Checks that every member belongs to a row, and closes the object. */
int pd_pack_check_members(struct pd_packer *p, const struct pd_packed_object *o,
			  const char *const *also);

/* Derives a number that is not given: the length of what it counts, in this list or a group of
 * it. */
bool pd_pack_derive(struct pd_packer *p, const struct pd_op_list *list, pd_node object, int8_t slot,
		    uint64_t *out);

/* Returns the bytes up to the end of the extent, or 0 if that is open. */
size_t pd_pack_bytes_left(const struct pd_packer *p, const struct pd_pack_scope *s);

/* Returns whether any row from `from` on is given. */
bool pd_pack_any_given(struct pd_packer *p, const struct pd_op_list *list, uint32_t from,
		       pd_node object);

/* Returns whether row i of the list is present. */
enum pd_presence { PD_ABSENT, PD_PRESENT, PD_LIST_ENDS };
enum pd_presence pd_pack_presence_of(struct pd_packer *p, const struct pd_pack_scope *s,
				     uint32_t i);

/* --- pack_leaf.c --- */

/* Sets *v to the number of a row as given, or as derived. Returns 0, 1 if there is neither, or
 * -1. */
int pd_pack_number_or_derived(struct pd_packer *p, const struct pd_pack_scope *s,
			      const struct pd_op *op, uint64_t *v);

/* Finds the array of a row, checks its length against the count, and packs an inline count. Returns
 * 0 or -1. */
int pd_pack_begin_array(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op,
			pd_node *list, size_t *n);

int pd_pack_number(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_cstr(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_bytes(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_numbers(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op);

static inline pd_node pd_pack_member(struct pd_packer *p, const struct pd_pack_scope *s,
				     const struct pd_field *f)
{
	return f->name[0] ? p->v->member(s->object, f->name) : s->object;
}

#endif
