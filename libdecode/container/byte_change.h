/* byte_change.h - bytes that were inserted into a part of a file, or removed from it. */
#ifndef PD_CONTAINER_BYTE_CHANGE_H
#define PD_CONTAINER_BYTE_CHANGE_H

#include "base/cursor.h"

struct pd_byte_change {
	size_t at;	/* offset of the first byte, in the part */
	int64_t by;	/* number of bytes inserted; of bytes removed, if negative */
};

static inline size_t pd_byte_change_removed(const struct pd_byte_change *c)
{
	return c->by < 0 ? (size_t)-c->by : 0;
}

/* Sets `before` to the bytes from `offset` on as they were before the change; removed bytes are
 * zero. `now` are those of the part and after it, as they are. Returns how many could be set. */
size_t pd_byte_change_undo(struct pd_bytes now, const struct pd_byte_change *c, size_t offset,
			   uint8_t *before, size_t size);

/* Returns the number that was at `offset` before the change. */
static inline uint64_t pd_byte_change_number(struct pd_bytes now, const struct pd_byte_change *c,
					     size_t offset, enum pd_swap swap)
{
	uint8_t bytes[2 * sizeof(uint64_t)] = { 0 };
	const bool is_before = offset + sizeof(uint64_t) <= c->at;
	const size_t is_at = is_before ? offset : offset + (size_t)c->by;

	if ((is_before || offset >= c->at + pd_byte_change_removed(c)) &&
	    is_at + sizeof(uint64_t) <= now.size)
		return pd_load64(now.data + is_at, swap);
	if (offset >= c->at && offset + sizeof(uint64_t) <= c->at + pd_byte_change_removed(c))
		return 0;
	if (c->by > 0 && is_at + sizeof(bytes) <= now.size) {
		memcpy(bytes, now.data + offset, sizeof(uint64_t));
		memcpy(bytes + (c->at - offset), now.data + c->at + c->by, sizeof(uint64_t));
	} else {
		pd_byte_change_undo(now, c, offset, bytes, sizeof(uint64_t));
	}
	return pd_load64(bytes, swap);
}

#endif
