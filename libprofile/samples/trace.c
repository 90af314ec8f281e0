/* trace.c - one home for reading a sample's fields: their names, not places, are known. */
#include "samples/trace.h"

#include <stddef.h>

enum { TREE_MEMORY = 16 << 20 };	/* for one record, which has 64 KiB at most */

enum pd_code pp_read_record(struct pd_tree **tree, const struct pd_record *record,
			    const struct pd_item **out)
{
	struct pd_error e;

	if (!*tree)
		*tree = pd_tree_new(PD_TREE_OPTIONS(.memory_limit = TREE_MEMORY));
	*out = *tree ? pd_tree_read_record(*tree, record, &e) : NULL;
	return *out ? PD_OK : PD_E_LIMIT;
}

enum pd_code pp_trace_fields(struct pd_tree **tree, const struct pd_record *record,
			     const struct pd_item **out)
{
	const struct pd_item *root;
	const enum pd_code code = pp_read_record(tree, record, &root);

	*out = pd_item_get(root, "raw.tracepoint.fields");
	return code;
}
