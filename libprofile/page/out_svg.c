/* out_svg.c - a flame graph as a picture for documents: an SVG. Its script is for zoom and search,
 * without it the picture is whole. */
#include <inttypes.h>
#include <stdio.h>

#include "encoding/out.h"
#include "page/page.h"

enum {
	WIDTH = 1200, ROW = 17, MARGIN = 10, HEAD = 34, FOOT = 10,
	LETTER = 7,		/* px of width */
	DEEPEST = 300,		/* rows; deeper frames are left out */
	NARROW = 30,		/* in 1/100 px: narrower frames are grey, neighbors as one */
	RECTANGLES = 8000,
	NS_SHOWN_BELOW = 1000000,	/* longer times are in s */
};

struct drawing {
	struct pp_out *out;
	uint64_t all;
	size_t nr, deepest;	/* frames that are drawn, and rows */
	double narrowest;	/* px, so that there are at most RECTANGLES */
	double gap_start[DEEPEST], gap_end[DEEPEST];	/* of the grey run in each row */
};

/* The light colors of the page, by enum pp_kind. */
static const char *const colors[] = { "#ffce9d", "#69cfff", "#6aaa71", "#ac88b9", "#69cfff",
				      "#b7b7b7", "#b7b7b7", "#b7b7b7", "#d4edff", "#b7b7b7" };

/* XML 1.0 has no controls, not even escaped ones. */
static void put_xml(struct pp_out *out, struct pd_bytes text, size_t columns)
{
	for (size_t used = 0; text.size; used++) {
		const char *start = (const char *)text.data;
		const uint32_t c = pp_next_character(&text);

		if (columns && used + 1 >= columns && text.size) {
			pp_put_text(out, "…");
			return;
		}
		if (pp_is_control(c) || c == 0xfffe || c == 0xffff)
			pp_put_text(out, "?");
		else if (c == '<' || c == '>' || c == '&' || c == '"')
			pp_printf(out, "&#%u;", c);
		else
			pp_put(out, start, (size_t)((const char *)text.data - start));
	}
}

static double width_of(const struct drawing *d, uint64_t value)
{
	return d->all ? (double)value * (WIDTH - 2 * MARGIN) / (double)d->all : 0;
}

static double y_of(const struct drawing *d, size_t row)
{
	if (d->out->o.view == PP_VIEW_ICICLE)
		return HEAD + (double)row * ROW;
	return HEAD + (double)(d->deepest - row) * ROW;
}

static void end_gap(struct drawing *d, size_t row)
{
	if (d->gap_end[row] > d->gap_start[row])
		pp_printf(d->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
			  "fill=\"#999999\"/>\n", d->gap_start[row], y_of(d, row),
			  d->gap_end[row] - d->gap_start[row], ROW - 1);
	d->gap_start[row] = d->gap_end[row] = 0;
}

static void add_to_gap(struct drawing *d, size_t row, double x, double width)
{
	if (x - d->gap_end[row] > d->narrowest) {
		end_gap(d, row);
		d->gap_start[row] = x;
	}
	d->gap_end[row] = x + width;
}

static void put_frame(struct drawing *d, const struct pp_merged *n, size_t row, double x,
		      double width)
{
	const struct pp_profile *p = d->out->p;
	const struct pp_named *f = &p->functions[n->function];
	const uint64_t value = pp_total(n, d->out->o.measure);
	const struct pd_bytes name = f->kind == PP_KIND_EVENT ?
		(struct pd_bytes){ (const uint8_t *)"all", 3 } : pp_name_of(p, n);

	pp_put_text(d->out, "<g><title>");
	put_xml(d->out, name, 0);
	pp_printf(d->out, " (%" PRIu64 ", %.2f %%)</title><rect x=\"%.2f\" y=\"%.0f\" "
		  "width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", value,
		  d->all ? 100.0 * (double)value / (double)d->all : 0, x, y_of(d, row), width,
		  ROW - 1, f->kind < sizeof(colors) / sizeof(*colors) ? colors[f->kind] :
								       "#b7b7b7");
	if (width > 3 * LETTER) {
		pp_printf(d->out, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y_of(d, row) + 12);
		put_xml(d->out, name, (size_t)(width / LETTER));
		pp_put_text(d->out, "</text>");
	}
	pp_put_text(d->out, "</g>\n");
}

/* Goes over the frames that are wide enough and calls `frame` for each; `narrow` for the others,
 * whose children are left out. Children stand side by side, the heaviest first. */
static void walk_frames(struct drawing *d,
			void (*frame)(struct drawing *, const struct pp_merged *, size_t, double,
				      double),
			void (*narrow)(struct drawing *, size_t, double, double))
{
	const struct pp_profile *p = d->out->p;
	const uint32_t root = p->events[d->out->o.event].merged;
	double lefts[DEEPEST] = { MARGIN };
	uint32_t at = root;
	size_t row = 0;

	while (at != PP_NONE) {
		const struct pp_merged *n = &p->merged[at];
		const double width = width_of(d, pp_total(n, d->out->o.measure));
		const bool is_wide = width >= d->narrowest;

		if (is_wide)
			frame(d, n, row, lefts[row], width);
		else
			narrow(d, row, lefts[row], width);
		if (is_wide && n->first_child != PP_NONE && row + 1 < DEEPEST) {
			lefts[row + 1] = lefts[row];
			row++;
			at = n->first_child;
			continue;
		}
		lefts[row] += width;
		while (at != root && p->merged[at].next == PP_NONE) {
			at = p->merged[at].parent;
			row--;
			lefts[row] += width_of(d, pp_total(&p->merged[at], d->out->o.measure));
		}
		at = at == root ? PP_NONE : p->merged[at].next;
	}
}

static void count_frame(struct drawing *d, const struct pp_merged *n, size_t row, double x,
			double width)
{
	(void)n;
	(void)x;
	(void)width;
	d->nr++;
	if (row > d->deepest)
		d->deepest = row;
}

static void count_narrow(struct drawing *d, size_t row, double x, double width)
{
	(void)x;
	(void)width;
	if (row > d->deepest)
		d->deepest = row;
}

int pp_write_svg(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	const struct pp_counted_event *e = &p->events[out->o.event];
	struct drawing d = { .out = out, .narrowest = NARROW / 100.0,
			     .all = pp_total(&p->merged[e->merged], out->o.measure) };
	const char *title = out->o.title ? out->o.title : "perf.data";
	int height;

	walk_frames(&d, count_frame, count_narrow);
	while (d.nr > RECTANGLES) {
		d.narrowest *= 1.5;
		d.nr = d.deepest = 0;
		walk_frames(&d, count_frame, count_narrow);
	}
	height = HEAD + (int)(d.deepest + 1) * ROW + FOOT;
	pp_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		  "width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"11\">\n",
		  WIDTH, height, WIDTH, height);
	pp_printf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"%d\" "
		  "y=\"20\" font-size=\"14\">", WIDTH, height, MARGIN);
	put_xml(out, (struct pd_bytes){ (const uint8_t *)title, __builtin_strlen(title) }, 80);
	pp_put_text(out, ": ");
	put_xml(out, (struct pd_bytes){ (const uint8_t *)e->weigher.name,
					__builtin_strlen(e->weigher.name) }, 60);
	if (e->weigher.is_time && out->o.measure == PP_BY_PERIOD && d.all >= NS_SHOWN_BELOW)
		pp_printf(out, ", %.3f s</text>\n", (double)d.all / 1e9);
	else
		pp_printf(out, ", %" PRIu64 "%s</text>\n", d.all, e->weigher.is_time &&
			  out->o.measure == PP_BY_PERIOD ? " ns" : "");
	walk_frames(&d, put_frame, add_to_gap);
	for (size_t row = 0; row <= d.deepest; row++)
		end_gap(&d, row);
	pp_put_text(out, "<script><![CDATA[\n");
	pp_put_text(out, pp_svg_script);
	pp_put_text(out, "]]></script>\n</svg>\n");
	return 0;
}
