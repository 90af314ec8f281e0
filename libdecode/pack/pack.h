/* pack.h - run a plan in reverse: values to bytes. */
#ifndef PD_PACK_PACK_H
#define PD_PACK_PACK_H

#include "pd/values.h"
#include "plan/plan.h"
#include "plan/walk.h"

#define PD_SIZE_OPEN SIZE_MAX

/* The value that can't be packed, and the reason. */
struct pd_pack_error {
	enum pd_code code;
	char path[160];		/* "branch_stack.entries[3].from" */
	char text[160];		/* what was expected, or what is wrong */
};

/* Packs the feature of a HEADER_FEATURE record; `value` is the object under `feature`. Returns 0 or
 * -1. */
struct pd_packer;
typedef int pd_pack_feature_fn(void *ctx, uint64_t id, pd_node value, struct pd_packer *p);

struct pd_pack {
	const struct pd_values *values;
	enum pd_swap swap;
	uint64_t misc;
	size_t size;			/* required size of the body, or PD_SIZE_OPEN */
	bool fills;			/* all bytes of the body are of members: none is padding */
	size_t after;			/* size of `trailing` if it is not of the body, or 0 */
	pd_pack_feature_fn *feature;
	void *ctx;
	const char *const *also;	/* members allowed in addition to the plan's; NULL: any */
};

/* Appends the packed members of the object to out. Returns 0, or -1 and *e. */
int pd_pack(const struct pd_plan *plan, pd_node object, const struct pd_pack *how,
	    struct pd_buf *out, struct pd_pack_error *e);

/* For pd_pack_feature_fn: append bytes, or fail with a text. */
void pd_packer_append(struct pd_packer *p, struct pd_bytes bytes);
int pd_packer_fail(struct pd_packer *p, enum pd_code code, const char *text);

/* Appends the bytes of hex digits. Returns -1 if the text is not hex. */
int pd_unhex(struct pd_bytes text, struct pd_buf *out);

/* Returns the number of bytes of a node, hex text or bytes; 0 if it is neither. */
size_t pd_pack_blob_size(const struct pd_values *v, pd_node n);

/* Returns whether the number is given as negative. */
bool pd_node_is_negative(const struct pd_values *v, pd_node n);

/* Reads a number in any form that the JSON has: integer, "0x...", decimal text, or a name. Returns
 * -1 if it is none of these. */
int pd_node_number(const struct pd_values *v, pd_node n, const struct pd_name *names,
		   uint64_t *out);

#endif
