/* byte_change.c - bytes as they were before some were inserted, or removed. */
#include "container/byte_change.h"

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Copies bytes for those from `offset` to `end`, as far as there are any. Returns the
 * offset after them. */
static size_t copy_bytes(struct pd_bytes now, size_t is_at, size_t offset, size_t end, uint8_t *p)
{
	const size_t n = is_at < now.size ? smaller_of(end - offset, now.size - is_at) : 0;

	if (n)
		memcpy(p, now.data + is_at, n);
	return offset + n;
}

size_t pd_byte_change_undo(struct pd_bytes now, const struct pd_byte_change *c, size_t offset,
			   uint8_t *before, size_t size)
{
	const size_t end = offset + size, removed_to = c->at + pd_byte_change_removed(c);
	size_t at = offset;

	if (at < c->at) {
		const size_t to = smaller_of(end, c->at);

		at = copy_bytes(now, at, at, to, before);
		if (at < to)
			return at - offset;
	}
	if (at < end && at < removed_to) {
		const size_t to = smaller_of(end, removed_to);

		memset(before + (at - offset), 0, to - at);
		at = to;
	}
	if (at < end)
		at = copy_bytes(now, at + (size_t)c->by, at, end, before + (at - offset));
	return at - offset;
}
