/* pack_internal.h - what the parts of a pack run share: pack.c, pack_out.c, pack_members.c, pack_leaf.c. */
#ifndef PD_PLAN_PACK_INTERNAL_H
#define PD_PLAN_PACK_INTERNAL_H

#include "plan/pack.h"

#define PD_PACK_DEPTH 12
#define PD_PACK_USED 256

/* An object of the source; groups share that of the list around them. */
struct pd_packed_object {
	pd_node node;
	struct pd_bytes padding;	/* what is left of its `padding` */
	struct pd_buf padding_bytes;
	unsigned int first_used;
};

struct pd_pack_scope {
	const struct pd_op_list *list;
	pd_node object;
	struct pd_packed_object *in;
	size_t start;			/* of the list in out */
	size_t end;			/* of the extent in out; PD_SIZE_OPEN: not known */
};

struct pd_packer {
	const struct pd_pack *how;
	const struct pd_values *v;
	struct pd_buf *out;
	struct pd_pack_error *e;
	enum pd_swap swap;
	size_t base;			/* of the body in out */
	size_t fields_end;		/* in out, where `trailing` begins; PD_SIZE_OPEN: not known */
	unsigned int depth, nr_used;
	const struct pd_field *used[PD_PACK_USED];	/* rows that were there, of the objects that are open */
	const char *names[PD_PACK_DEPTH];	/* the path, for errors; NULL: an element */
	size_t indices[PD_PACK_DEPTH];
	uint64_t slots[PD_SLOTS];
	size_t patch_at[PD_SLOTS];	/* where a size that is not yet known stands, or 0 */
	uint16_t patch_width[PD_SLOTS];
};

/* --- pack_out.c --- */

/* -1; the first failure is kept. `last`: the member below the path, or NULL. */
int pd_pack_fail(struct pd_packer *p, const char *last, enum pd_code code, const char *text);

/* One step down the path: a member, or with name NULL an element. */
int pd_pack_enter(struct pd_packer *p, const char *name, size_t index);

void pd_pack_store(struct pd_packer *p, uint64_t v, unsigned int width);

/* Bytes of a node: hex text, or bytes as they are. */
int pd_pack_append_blob(struct pd_packer *p, pd_node n);
size_t pd_pack_blob_size(struct pd_packer *p, pd_node n);

/* The member `name` + `suffix`, or NULL. */
pd_node pd_pack_suffixed(struct pd_packer *p, pd_node object, const char *name, const char *suffix);

/* Text: its exact bytes stand beside it where it is not UTF-8. *size: bytes appended. */
int pd_pack_append_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_field *f, pd_node n, size_t *size);

/* n bytes of padding: from the object's `padding` while it lasts, then zeros. */
int pd_pack_append_padding(struct pd_packer *p, struct pd_pack_scope *s, size_t n);

/* --- pack_members.c --- */

/* The row that a member belongs to has this name, or a part of it has. */
bool pd_pack_is_of_row(const struct pd_field *f, const char *name);

/* Every member has found its row. The object is closed. */
int pd_pack_check_members(struct pd_packer *p, const struct pd_packed_object *o, const char *const *also);

/* A number that is not given: the length of what it counts, in this list or a group of it. */
bool pd_pack_derive(struct pd_packer *p, const struct pd_op_list *list, pd_node object, int8_t slot, uint64_t *out);

/* Bytes up to the end of the extent; 0 where that is open. */
size_t pd_pack_left_of(const struct pd_packer *p, const struct pd_pack_scope *s);

/* Is any of these rows given? */
bool pd_pack_any_given(struct pd_packer *p, const struct pd_op_list *list, uint32_t from, pd_node object);

/* Is row i of the list there? */
enum pd_presence { PD_ABSENT, PD_PRESENT, PD_LIST_ENDS };
enum pd_presence pd_pack_presence_of(struct pd_packer *p, const struct pd_pack_scope *s, uint32_t i);

/* --- pack_leaf.c --- */

/* The number of a row as its source gives it, or as derived. 0, 1: neither, -1. */
int pd_pack_number_or_derived(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op, uint64_t *v);

/* The array of a row and its length, which the row's count agrees with; a count before it is packed. 0 or -1. */
int pd_pack_begin_array(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op, pd_node *list, size_t *n);

int pd_pack_number(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_cstr(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_bytes(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_op *op);
int pd_pack_numbers(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_op *op);

static inline pd_node pd_pack_member(struct pd_packer *p, const struct pd_pack_scope *s, const struct pd_field *f)
{
	return f->name[0] ? p->v->member(s->object, f->name) : s->object;
}

#endif
