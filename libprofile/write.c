/* write.c - a profile in one of the formats. */
#include "gzip.h"

#include <string.h>

int pp_write(struct pp_profile *p, const struct pp_write *o, struct pd_output to)
{
	struct pp_out out = { .p = p, .to = to };
	int ret = 0;

	memcpy(&out.o, o, o->size < sizeof(out.o) ? o->size : sizeof(out.o));
	if (out.o.event >= p->nr_events)
		return 0;
	switch (out.o.format) {
	case PP_FOLDED:
		ret = pp_write_folded(&out);
		break;
	case PP_TOP:
		ret = out.o.base ? pp_write_diff(&out) : pp_write_top(&out);
		break;
	case PP_TREE:
		ret = pp_write_tree(&out);
		break;
	case PP_FLAMEGRAPH:
		ret = pp_write_page(&out);
		break;
	case PP_PPROF:
		ret = pp_write_gzip(&out, pp_write_pprof);
		break;
	case PP_CSV:
	case PP_JSON:
		ret = pp_write_table(&out);
		break;
	case PP_SVG:
		ret = pp_write_svg(&out);
		break;
	case PP_FIREFOX:
		ret = pp_write_gzip(&out, pp_write_firefox);
		break;
	case PP_SPEEDSCOPE:
		ret = pp_write_speedscope(&out);
		break;
	case PP_CHROME:
		ret = pp_write_chrome(&out);
		break;
	case PP_CALLGRIND:
		ret = pp_write_callgrind(&out);
		break;
	}
	pp_flush(&out);
	return out.error ? out.error : ret;
}
