/* pack.h - runs a plan the other way: values to bytes. */
#ifndef PD_PLAN_PACK_H
#define PD_PLAN_PACK_H

#include "pd/values.h"
#include "plan/plan.h"
#include "plan/walk.h"

#define PD_SIZE_OPEN SIZE_MAX

/* What could not be packed, and where. */
struct pd_pack_error {
	enum pd_code code;
	char path[160];		/* "branch_stack.entries[3].from" */
	char text[160];		/* what was expected, what was there */
};

/* Packs the feature of a HEADER_FEATURE record: `value` is the object under `feature`. 0 or -1. */
struct pd_packer;
typedef int pd_pack_feature_fn(void *ctx, uint64_t id, pd_node value, struct pd_packer *p);

struct pd_pack {
	const struct pd_values *values;
	enum pd_swap swap;
	uint64_t misc;
	size_t size;			/* bytes the body has to come to; PD_SIZE_OPEN: as many as the values make */
	pd_pack_feature_fn *feature;
	void *ctx;
	const char *const *also;	/* members that the object may have beside the plan's; NULL: any */
};

/* Appends what `plan` makes of the object's members to out. 0, or -1 and *e. */
int pd_pack(const struct pd_plan *plan, pd_node object, const struct pd_pack *how, struct pd_buf *out,
	    struct pd_pack_error *e);

/* For pd_pack_feature_fn: appends bytes; fails with a text. */
void pd_packer_append(struct pd_packer *p, struct pd_bytes bytes);
int pd_packer_fail(struct pd_packer *p, enum pd_code code, const char *text);

/* Hex digits to bytes, appended; -1: not hex. */
int pd_unhex(struct pd_bytes text, struct pd_buf *out);

/* Is it given as a negative number? */
bool pd_node_is_negative(const struct pd_values *v, pd_node n);

/* A number in any of the forms the JSON has for it: integer, "0x...", decimal text, a name. -1: none of these. */
int pd_node_number(const struct pd_values *v, pd_node n, const struct pd_name *names, uint64_t *out);

#endif
