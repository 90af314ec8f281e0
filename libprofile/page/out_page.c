/* out_page.c - one HTML file: the page, and the tree as compressed data in it.
 *
 * The data: the size of a JSON text, 4 bytes; that text; the nodes in preorder, as varints: levels
 * to go up from the last node, function, weight, samples, and in a difference the older recording's
 * weight and samples; then the samples of each thread (page_times.h). zlib, in base64.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "page/page.h"
#include "page/page_times.h"

enum { LEVEL = 4 };	/* of zlib: 9 takes 20 times as long for 4 % less */

struct page {
	struct pp_out *out;
	struct pp_packing packing;
	struct pp_joined joined;
	struct pp_page_times times;
	uint32_t *order;	/* of each node of the tree: its number in the page */
	uint32_t *functions;	/* of each function: its number in the page, PP_NONE: not there */
	uint32_t nr_functions;
};

static void add_function(struct page *page, const struct pp_joined_function *function)
{
	const struct pp_strings *s = &function->of->strings;
	const struct pp_named *f = &function->of->functions[function->number];
	struct pp_packing *k = &page->packing;
	char text[64];

	pp_pack_text(k, page->nr_functions ? ",[" : "[");
	if (page->out->o.base && f->kind == PP_KIND_THREAD)
		pp_pack_string(k, pp_strings_at(&page->out->p->strings, function->name));
	else
		pp_pack_string(k, pp_strings_at(s, f->name));
	pp_pack_text(k, ",");
	pp_pack_string(k, pp_strings_at(s, f->image));
	snprintf(text, sizeof(text), ",%u,", f->kind);
	pp_pack_text(k, text);
	pp_pack_chars(k, f->kind <= PP_KIND_UNKNOWN ? pd_why_name(f->why) : "");
	if (f->file != PP_NONE) {
		pp_pack_text(k, ",");
		pp_pack_string(k, pp_strings_at(s, f->file));
	}
	pp_pack_text(k, "]");
}

/* In the order in which the nodes have them. */
static void add_functions(struct page *page)
{
	const struct pp_joined *j = &page->joined;
	uint32_t nr_nodes = 0;

	pp_pack_text(&page->packing, "\"functions\":[");
	for (uint32_t i = 0; i != PP_NONE; i = pp_joined_next(j, i)) {
		const uint32_t f = j->tree.nodes[i].frame;

		page->order[i] = nr_nodes++;
		if (page->functions[f] != PP_NONE)
			continue;
		add_function(page, &j->functions[f]);
		page->functions[f] = page->nr_functions++;
	}
	pp_pack_text(&page->packing, "]");
}

static void format_facts(const struct pp_profile *p, size_t event, char *text, size_t size)
{
	const struct pp_counted_event *e = &p->events[event];
	const struct pp_counts *c = &p->counts;
	const uint64_t cut = c->cut + c->copies_cut;
	char idle[64] = "";

	if (e->idle_samples)
		snprintf(idle, sizeof(idle), "; %" PRIu64 " %ssample%s left out",
			 e->idle_samples, p->idle == PP_IDLE_ONLY ? "other " : "idle ",
			 pp_plural(e->idle_samples));
	snprintf(text, size, "%" PRIu64 " sample%s of %s; %zu thread%s; %" PRIu64 " lost, %"
		 PRIu64 " throttled; %" PRIu64 " stack%s cut%s", e->samples,
		 pp_plural(e->samples), e->weigher.name, p->nr_threads,
		 pp_plural(p->nr_threads), c->lost, c->throttled, cut, pp_plural(cut), idle);
}

static void add_facts(struct page *page)
{
	const struct pp_out *out = page->out;
	struct pp_packing *k = &page->packing;
	char text[1024], times[64] = "", whole[1200];

	format_facts(out->p, out->o.event, text, sizeof(text));
	if (page->times.step * out->p->one_of > 1)
		snprintf(times, sizeof(times), "; one of %" PRIu64 " has a time",
			 page->times.step * out->p->one_of);
	else if (out->p->counts.lacks_times)
		snprintf(times, sizeof(times), "; the times did not fit into memory");
	snprintf(whole, sizeof(whole), "%s%s", text, times);
	pp_pack_text(k, "\"facts\":");
	pp_pack_chars(k, whole);
	if (!out->o.base)
		return;
	format_facts(out->o.base, pp_main_event(out->o.base), text, sizeof(text));
	pp_pack_text(k, out->o.compare == PP_COMPARE_SUMS ? ",\"base\":{\"sums\":true,\"title\":" :
		     ",\"base\":{\"title\":");
	pp_pack_chars(k, out->o.base_title ? out->o.base_title : "perf.data.old");
	pp_pack_text(k, ",\"facts\":");
	pp_pack_chars(k, text);
	pp_pack_text(k, "}");
}

static void add_json(struct page *page)
{
	const struct pp_write *o = &page->out->o;
	static const char *const views[] = { "", "\"view\":\"icicle\",", "\"view\":\"callers\",",
					     "\"view\":\"time\"," };
	const struct pp_weigher *w = &page->out->p->events[o->event].weigher;
	struct pp_packing *k = &page->packing;
	char text[64];
	uint32_t size;

	pp_pack_text(k, "    {\"title\":");
	pp_pack_chars(k, o->title ? o->title : "perf.data");
	pp_pack_text(k, ",\"event\":");
	pp_pack_chars(k, w->name);
	pp_pack_text(k, w->is_time ? ",\"unit\":\"ns\"," : ",\"unit\":\"count\",");
	pp_pack_text(k, w->has_no_weight || o->measure == PP_BY_SAMPLES ?
		     "\"has_periods\":false," : "\"has_periods\":true,");
	if (o->theme != PP_THEME_OF_SYSTEM)
		pp_pack_text(k, o->theme == PP_THEME_DARK ? "\"theme\":\"dark\"," :
			     "\"theme\":\"light\",");
	if ((size_t)o->view < sizeof(views) / sizeof(*views))
		pp_pack_text(k, views[o->view]);
	add_facts(page);
	pp_pack_text(k, ",");
	pp_pack_threads(k, &page->times);
	pp_pack_text(k, ",");
	add_functions(page);
	snprintf(text, sizeof(text), ",\"nodes\":%zu}", page->joined.tree.nr);
	pp_pack_text(k, text);
	size = (uint32_t)(k->size - 4);
	for (size_t i = 0; !k->failed && i < 4; i++)
		k->bytes[i] = (uint8_t)(size >> (8 * i));
}

static void add_nodes(struct page *page)
{
	const struct pp_joined *j = &page->joined;
	struct pp_packing *k = &page->packing;
	uint32_t last = PP_NONE;

	for (uint32_t i = 0; i != PP_NONE; i = pp_joined_next(j, i)) {
		const struct pp_node *n = &j->tree.nodes[i];
		uint64_t up = 0;

		for (; last != PP_NONE && last != n->parent; last = j->tree.nodes[last].parent)
			up++;
		pp_pack_varint(k, i ? up : 0);
		pp_pack_varint(k, page->functions[n->frame]);
		pp_pack_varint(k, n->weight);
		pp_pack_varint(k, n->samples);
		if (j->before) {
			pp_pack_varint(k, j->before[i].weight);
			pp_pack_varint(k, j->before[i].samples);
		}
		last = i;
	}
}

static void put_base64(struct pp_out *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4096];
	size_t used = 0;

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t n = (uint32_t)bytes[i] << 16 |
				   (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				   (left > 2 ? bytes[i + 2] : 0);

		text[used++] = digits[n >> 18];
		text[used++] = digits[n >> 12 & 63];
		text[used++] = left > 1 ? digits[n >> 6 & 63] : '=';
		text[used++] = left > 2 ? digits[n & 63] : '=';
		if (used == sizeof(text)) {
			pp_put(out, text, used);
			used = 0;
		}
	}
	pp_put(out, text, used);
}

static int put_page(struct page *page)
{
	struct pp_packing *k = &page->packing;
	uLongf size = compressBound(k->size);
	const uLongf room = size;
	uint8_t *packed = k->failed ? NULL : pp_memory_zeroed(k->memory, room, 1);
	const char *data = strstr(pp_page, PP_PAGE_DATA);
	int ret = -1;

	if (packed && compress2(packed, &size, k->bytes, k->size, LEVEL) == Z_OK) {
		pp_put(page->out, pp_page, (size_t)(data - pp_page));
		put_base64(page->out, packed, size);
		pp_put_text(page->out, data + strlen(PP_PAGE_DATA));
		ret = 0;
	}
	pp_memory_free(k->memory, packed, room, 1);
	return ret;
}

static int fill_page(struct page *page)
{
	struct pp_memory *m = page->packing.memory;
	const size_t nr = page->joined.nr_functions;
	int ret = -1;

	page->order = pp_memory_zeroed(m, page->joined.tree.nr, sizeof(*page->order));
	page->functions = pp_memory_zeroed(m, nr, sizeof(*page->functions));
	if (page->order && page->functions) {
		memset(page->functions, 0xff, nr * sizeof(*page->functions));
		page->times.j = &page->joined;
		page->times.order = page->order;
		add_json(page);
		add_nodes(page);
		pp_pack_samples(&page->packing, &page->times);
		ret = put_page(page);
	}
	pp_memory_free(m, page->order, page->joined.tree.nr, sizeof(*page->order));
	pp_memory_free(m, page->functions, nr, sizeof(*page->functions));
	return ret;
}

int pp_write_page(struct pp_out *out)
{
	struct pp_profile *p = out->p, *base = out->o.base;
	struct page page = { .out = out, .packing.memory = &p->memory };
	int ret = pp_join(&page.joined, p, out->o.event, base, base ? pp_main_event(base) : 0);

	if (!ret)
		ret = pp_page_times_init(&page.times, p, out->o.event);
	if (!ret) {
		if (base)
			page.times.step = 0;
		ret = fill_page(&page);
	}
	pp_page_times_free(&page.times);
	pp_packing_free(&page.packing);
	pp_joined_free(&page.joined, &p->memory);
	return ret;
}
