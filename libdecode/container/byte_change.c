/* byte_change.c - bytes as they were before some were inserted, or removed. */
#include "container/byte_change.h"

size_t pd_byte_change_undo(struct pd_bytes now, const struct pd_byte_change *c, size_t offset,
			   uint8_t *before, size_t size)
{
	const size_t removed_to = c->at + pd_byte_change_removed(c);

	for (size_t i = 0; i < size; i++) {
		const size_t was_at = offset + i;
		const size_t is_at = was_at < c->at ? was_at : was_at + (size_t)c->by;
		const bool is_removed = was_at >= c->at && was_at < removed_to;

		if (!is_removed && is_at >= now.size)
			return i;
		before[i] = is_removed ? 0 : now.data[is_at];
	}
	return size;
}
