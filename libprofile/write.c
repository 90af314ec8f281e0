/* write.c - a profile in one of the formats. */
#include "encoding/gzip.h"

#include <string.h>

/* The writer of each format; `packed` is one whose output is packed with gzip. */
static const struct writer {
	int (*plain)(struct pp_out *);
	int (*packed)(struct pp_out *);
} writers[] = {
	[PP_FOLDED] = { .plain = pp_write_folded },
	[PP_TOP] = { .plain = pp_write_top },
	[PP_TREE] = { .plain = pp_write_tree },
	[PP_FLAMEGRAPH] = { .plain = pp_write_page },
	[PP_PPROF] = { .packed = pp_write_pprof },
	[PP_CSV] = { .plain = pp_write_table },
	[PP_JSON] = { .plain = pp_write_table },
	[PP_SVG] = { .plain = pp_write_svg },
	[PP_CALLGRIND] = { .plain = pp_write_callgrind },
	[PP_FIREFOX] = { .packed = pp_write_firefox },
	[PP_SPEEDSCOPE] = { .plain = pp_write_speedscope },
	[PP_CHROME] = { .plain = pp_write_chrome },
	[PP_OTLP] = { .plain = pp_write_otlp },
};

static int write_format(struct pp_out *out)
{
	const struct writer *w = &writers[out->o.format];

	if (out->o.format == PP_TOP && out->o.base)
		return pp_write_diff(out);
	return w->packed ? pp_write_gzip(out, w->packed) : w->plain(out);
}

int pp_write(struct pp_profile *p, const struct pp_write *o, struct pd_output to)
{
	struct pp_out out = { .p = p, .to = to };
	int ret = 0;

	memcpy(&out.o, o, o->size < sizeof(out.o) ? o->size : sizeof(out.o));
	if (out.o.event >= p->nr_events)
		return 0;
	if ((size_t)out.o.format < sizeof(writers) / sizeof(*writers))
		ret = write_format(&out);
	pp_flush(&out);
	if (pp_tracks_error(&p->tracks).code != PD_OK)
		ret = -1;
	return out.error ? out.error : ret;
}
