/* trace.c - one home for reading a tracepoint's fields: names of fields, not places, are known. */
#include "samples/trace.h"

#include <stddef.h>

enum { TREE_MEMORY = 16 << 20 };	/* for one record, which has 64 KiB at most */

enum pd_code pp_trace_fields(struct pd_tree **tree, const struct pd_record *record,
			     const struct pd_item **out)
{
	const struct pd_item *root;
	struct pd_error e;

	if (!*tree)
		*tree = pd_tree_new(PD_TREE_OPTIONS(.memory_limit = TREE_MEMORY));
	root = *tree ? pd_tree_read_record(*tree, record, &e) : NULL;
	*out = root ? pd_item_get(root, "raw.tracepoint.fields") : NULL;
	return root ? PD_OK : PD_E_LIMIT;
}
