/* preport_fits.c - whether a profile fits into the format that it is to be written in. */
#include "preport/preport_fits.h"

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

static bool is_too_long(struct pp_profile *p, const struct pp_write *o)
{
	struct pp_write plain = *o;
	uint64_t sum = 0;

	if (o->format != PP_CHROME || o->timeline != PP_TIMELINE_STACKS)
		return false;
	plain.compression = PP_NOT_COMPRESSED;
	pp_write(p, &plain, (struct pd_output){ count_bytes, &sum });
	return sum > LONGEST_STACKS;
}

/* Protocol buffers have int64 for weights. Sets *e to an event whose sum is larger. */
static bool is_too_large(const struct pp_profile *p, const struct pp_write *o, struct pp_event *e)
{
	if (o->format != PP_PPROF && o->format != PP_OTLP)
		return false;
	for (size_t i = 0; pp_event_at(p, i, e); i++)
		if (e->weight > INT64_MAX)
			return true;
	return false;
}

enum cli_exit fits_check(const struct cli_tool *tool, const char *input, struct pp_profile *p,
			 const struct pp_write *o)
{
	struct pp_event e;

	if (is_too_long(p, o)) {
		cli_error(tool, "%s: --stacks gives more than 500 MB, which viewers do not open: "
			  "choose with --time or --tid, or --thin=N", input);
		return CLI_OUTPUT;
	}
	if (is_too_large(p, o, &e)) {
		cli_error(tool, "%s: the sum of the weights of %s does not fit into the 63 bits of "
			  "-f %s", input, e.name, o->format == PP_PPROF ? "pprof" : "otlp");
		return CLI_OUTPUT;
	}
	return CLI_OK;
}
