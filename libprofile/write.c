/* write.c - a profile in one of the formats. */
#include "encoding/gzip.h"

#include <string.h>

#include "base/argument.h"

static int write_top(struct pp_out *out)
{
	return out->o.base ? pp_write_diff(out) : pp_write_top(out);
}

static int write_table(struct pp_out *out)
{
	return out->o.base ? pp_write_diff(out) : pp_write_table(out);
}

/* The writer of each format, and whether it is compressed if that is left to it. */
static const struct writer {
	int (*write)(struct pp_out *);
	enum pp_compression compression;
} writers[] = {
	[PP_FOLDED] = { pp_write_folded },
	[PP_TOP] = { write_top },
	[PP_TREE] = { pp_write_tree },
	[PP_FLAMEGRAPH] = { pp_write_page },
	[PP_PPROF] = { pp_write_pprof, PP_COMPRESSED },
	[PP_CSV] = { write_table },
	[PP_JSON] = { write_table },
	[PP_SVG] = { pp_write_svg },
	[PP_CALLGRIND] = { pp_write_callgrind },
	[PP_FIREFOX] = { pp_write_firefox, PP_COMPRESSED },
	[PP_SPEEDSCOPE] = { pp_write_speedscope },
	[PP_CHROME] = { pp_write_chrome },
	[PP_OTLP] = { pp_write_otlp },
};

static int write_plain(struct pp_out *out, void *ctx)
{
	return ((const struct writer *)ctx)->write(out);
}

static int write_format(struct pp_out *out)
{
	const struct writer *w = &writers[out->o.format];
	const enum pp_compression chosen = out->o.compression ? out->o.compression :
								    w->compression;

	return chosen == PP_COMPRESSED ?
		       pp_write_compressed(out, PP_GZIP, write_plain, (void *)w) : w->write(out);
}

static bool is_write(const struct pp_write *o)
{
	for (size_t i = 0; i < PP_NR_KEYS; i++)
		if (o->keys[i] > PP_KEY_EVENT)
			return false;
	return (size_t)o->format < sizeof(writers) / sizeof(*writers) &&
	       o->measure <= PP_BY_SAMPLES && o->sort <= PP_SORT_TOTAL &&
	       o->colors <= PP_COLORS && o->theme <= PP_THEME_DARK && o->view <= PP_VIEW_TIME &&
	       o->graph <= PP_GRAPH_CALLEES && o->names <= PP_NAMES_WHOLE &&
	       o->compare <= PP_COMPARE_SUMS && o->compression <= PP_NOT_COMPRESSED &&
	       o->timeline <= PP_TIMELINE_STACKS && (!o->base || o->base->merged);
}

int pp_write(struct pp_profile *p, const struct pp_write *o, struct pd_output to)
{
	struct pp_out out = { .p = p, .to = to };
	int ret;

	if (!p || !p->merged || !to.write || !o ||
	    pd_options_take(&out.o, sizeof(out.o), o, o->size) || !is_write(&out.o))
		return -1;
	p->counts.unpacked = 0;
	if (out.o.event >= p->nr_events)
		return 0;
	ret = write_format(&out);
	pp_flush(&out);
	if (!p->counts.unpacked)
		p->counts.unpacked = out.flushed;
	if (pp_tracks_error(&p->tracks).code != PD_OK)
		ret = -1;
	return out.error ? out.error : ret;
}
