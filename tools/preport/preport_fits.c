/* preport_longest.c - output that is too long for its viewers. */
#include "preport/preport_longest.h"

#include <errno.h>

/* Perfetto and the Firefox Profiler hold such a file in memory several times. */
#define LONGEST_STACKS UINT64_C(500000000)

static int count_bytes(void *ctx, const void *bytes, size_t size)
{
	uint64_t *sum = ctx;

	(void)bytes;
	*sum += size;
	return *sum > LONGEST_STACKS ? EFBIG : 0;
}

bool longest_is_exceeded(struct pp_profile *p, const struct pp_write *o)
{
	struct pp_write plain = *o;
	uint64_t sum = 0;

	if (o->format != PP_CHROME || o->timeline != PP_TIMELINE_STACKS)
		return false;
	plain.compression = PP_NOT_COMPRESSED;
	pp_write(p, &plain, (struct pd_output){ count_bytes, &sum });
	return sum > LONGEST_STACKS;
}
