/* out_page.c - one HTML file: the page, and the trees of the events as compressed data in it.
 *
 * The data: the size of a JSON text, 4 bytes; that text; of each event the nodes in preorder, as
 * varints: levels to go up from the last node, function, weight, samples, and in a difference the
 * older recording's weight and samples; then the samples of each thread (page_times.h). zlib, in
 * base64.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "encoding/base64.h"
#include "encoding/gzip.h"
#include "page/page.h"
#include "page/page_times.h"

/* The tree of an event. */
struct page_event {
	size_t event;
	struct pp_joined joined;
	struct pp_page_times times;
	uint32_t *order;	/* of each node of the tree: its number in the page */
};

struct page {
	struct pp_out *out;
	struct pp_packing packing;
	struct page_event *events;	/* the one that is shown first, then the others */
	size_t nr_events, room;
	struct pp_parts parts;
	uint32_t *places;	/* of all events: see joined.h */
	uint32_t *functions;	/* of each function: its number in the page, PP_NONE: not there */
	size_t functions_room;
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

/* Returns where the number of a node's function is. The functions of a difference are of two
 * profiles, but it has one event. */
static uint32_t *function_of(const struct page *page, const struct pp_joined *j, uint32_t node)
{
	const uint32_t f = j->tree.nodes[node].frame;

	return &page->functions[page->out->o.base ? f : j->functions[f].number];
}

/* In the order in which the nodes have them. */
static void add_functions(struct page *page)
{
	pp_pack_text(&page->packing, "\"functions\":[");
	for (size_t k = 0; k < page->nr_events; k++) {
		const struct pp_joined *j = &page->events[k].joined;
		uint32_t nr_nodes = 0;

		for (uint32_t i = 0; i != PP_NONE; i = pp_joined_next(j, i)) {
			uint32_t *number = function_of(page, j, i);

			page->events[k].order[i] = nr_nodes++;
			if (*number != PP_NONE)
				continue;
			add_function(page, &j->functions[j->tree.nodes[i].frame]);
			*number = page->nr_functions++;
		}
	}
	pp_pack_text(&page->packing, "]");
}

static void format_facts(const struct pp_profile *p, size_t event, char *text, size_t size)
{
	const struct pp_counted_event *e = &p->events[event];
	const struct pp_counts *c = &p->counts;
	const uint64_t cut = c->cut + c->copies_cut;
	char idle[64] = "", no_event[64] = "";

	if (e->idle_samples)
		snprintf(idle, sizeof(idle), "; %" PRIu64 " %ssample%s left out",
			 e->idle_samples, p->idle == PP_IDLE_ONLY ? "other " : "idle ",
			 pp_plural(e->idle_samples));
	if (c->no_event)
		snprintf(no_event, sizeof(no_event), "; %" PRIu64 " of no event left out",
			 c->no_event);
	snprintf(text, size, "%" PRIu64 " sample%s of %s; %zu thread%s; %" PRIu64 " lost, %"
		 PRIu64 " throttled; %" PRIu64 " stack%s cut%s%s", e->samples,
		 pp_plural(e->samples), e->weigher.name, p->nr_threads,
		 pp_plural(p->nr_threads), pp_lost(p), c->throttled, cut, pp_plural(cut), idle,
		 no_event);
}

static void add_facts(struct page *page, const struct page_event *event)
{
	struct pp_profile *p = page->out->p;
	char text[1024], times[64] = "", doubt[256] = "; ", heavy[256] = "; ";
	char unnamed[1024] = "; ", whole[2700];

	format_facts(p, event->event, text, sizeof(text));
	if (event->times.step * p->one_of > 1)
		snprintf(times, sizeof(times), "; one of %" PRIu64 " has a time",
			 event->times.step * p->one_of);
	else if (p->counts.lacks_times)
		snprintf(times, sizeof(times), "; the times did not fit into memory");
	if (!pp_doubt_stacks(p, event->event, doubt + 2, sizeof(doubt) - 2))
		doubt[0] = '\0';
	if (!pp_doubt_names(p, event->event, unnamed + 2, sizeof(unnamed) - 2))
		unnamed[0] = '\0';
	if (page->out->o.measure == PP_BY_SAMPLES ||
	    !pp_doubt_weight(p, event->event, heavy + 2, sizeof(heavy) - 2))
		heavy[0] = '\0';
	snprintf(whole, sizeof(whole), "%s%s%s%s%s", text, doubt, heavy, unnamed, times);
	pp_pack_text(&page->packing, "\"facts\":");
	pp_pack_chars(&page->packing, whole);
}

static void add_base(struct page *page)
{
	const struct pp_write *o = &page->out->o;
	struct pp_packing *k = &page->packing;
	char text[1024];

	if (!o->base)
		return;
	format_facts(o->base, pp_compared_event(o->base, page->out->p, o->event), text,
		     sizeof(text));
	pp_pack_text(k, o->compare == PP_COMPARE_SUMS ? "\"base\":{\"sums\":true,\"title\":" :
		     "\"base\":{\"title\":");
	pp_pack_chars(k, o->base_title ? o->base_title : "perf.data.old");
	pp_pack_text(k, ",\"facts\":");
	pp_pack_chars(k, text);
	pp_pack_text(k, "},");
}

static void add_event(struct page *page, const struct page_event *event)
{
	const struct pp_write *o = &page->out->o;
	const struct pp_weigher *w = &page->out->p->events[event->event].weigher;
	struct pp_packing *k = &page->packing;
	char text[64];

	pp_pack_text(k, "{\"event\":");
	pp_pack_chars(k, w->name);
	pp_pack_text(k, w->is_time ? ",\"unit\":\"ns\"," : ",\"unit\":\"count\",");
	pp_pack_text(k, w->has_no_weight || o->measure == PP_BY_SAMPLES ?
		     "\"has_periods\":false," : "\"has_periods\":true,");
	add_facts(page, event);
	pp_pack_text(k, ",");
	pp_pack_threads(k, &event->times);
	snprintf(text, sizeof(text), ",\"nodes\":%zu}", event->joined.tree.nr);
	pp_pack_text(k, text);
}

static void add_json(struct page *page)
{
	const struct pp_write *o = &page->out->o;
	static const char *const views[] = { "", "\"view\":\"icicle\",", "\"view\":\"callers\",",
					     "\"view\":\"time\"," };
	struct pp_packing *k = &page->packing;
	uint32_t size;

	pp_pack_text(k, "    {\"title\":");
	pp_pack_chars(k, o->title ? o->title : "perf.data");
	pp_pack_text(k, ",");
	if (o->theme != PP_THEME_OF_SYSTEM)
		pp_pack_text(k, o->theme == PP_THEME_DARK ? "\"theme\":\"dark\"," :
			     "\"theme\":\"light\",");
	if ((size_t)o->view < sizeof(views) / sizeof(*views))
		pp_pack_text(k, views[o->view]);
	add_base(page);
	pp_pack_text(k, "\"events\":[");
	for (size_t i = 0; i < page->nr_events; i++) {
		pp_pack_text(k, i ? "," : "");
		add_event(page, &page->events[i]);
	}
	pp_pack_text(k, "],");
	add_functions(page);
	pp_pack_text(k, "}");
	size = (uint32_t)(k->size - 4);
	for (size_t i = 0; !k->failed && i < 4; i++)
		k->bytes[i] = (uint8_t)(size >> (8 * i));
}

/* --- the data --- */

static void put_nodes(struct pp_out *out, const struct page *page, const struct pp_joined *j)
{
	uint32_t last = PP_NONE;

	for (uint32_t i = 0; i != PP_NONE; i = pp_joined_next(j, i)) {
		const struct pp_node *n = &j->tree.nodes[i];
		uint8_t *to = (uint8_t *)pp_room(out);
		uint64_t up = 0;

		for (; last != PP_NONE && last != n->parent; last = j->tree.nodes[last].parent)
			up++;
		to = pp_write_varint(to, i ? up : 0);
		to = pp_write_varint(to, *function_of(page, j, i));
		to = pp_write_varint(to, n->weight);
		to = pp_write_varint(to, n->samples);
		if (j->before) {
			to = pp_write_varint(to, j->before[i].weight);
			to = pp_write_varint(to, j->before[i].samples);
		}
		pp_wrote(out, (const char *)to);
		last = i;
	}
}

static int put_data(struct pp_out *out, void *ctx)
{
	const struct page *page = ctx;

	pp_put(out, (const char *)page->packing.bytes, page->packing.size);
	for (size_t i = 0; i < page->nr_events; i++) {
		put_nodes(out, page, &page->events[i].joined);
		pp_put_samples(out, &page->events[i].times);
	}
	return 0;
}

static int put_compressed(struct pp_out *out, void *ctx)
{
	return pp_write_compressed(out, PP_ZLIB, put_data, ctx);
}

/* Writes the page, with the data at its place. */
static int put_page(struct page *page)
{
	const char *data = strstr(pp_page, PP_PAGE_DATA);
	int ret;

	if (page->packing.failed)
		return -1;
	pp_put(page->out, pp_page, (size_t)(data - pp_page));
	ret = pp_write_base64(page->out, put_compressed, page);
	pp_put_text(page->out, data + strlen(PP_PAGE_DATA));
	return ret;
}

static int fill_page(struct page *page)
{
	add_json(page);
	return put_page(page);
}

/* --- the events --- */

/* Fills in the next of the page's events. Returns 0, or -1 without memory. */
static int join_event(struct page *page, size_t event)
{
	struct pp_profile *p = page->out->p, *base = page->out->o.base;
	struct page_event *e = &page->events[page->nr_events++];

	e->event = event;
	e->joined.places = page->places;
	pp_page_times_init(&e->times, &page->parts, event);
	if (pp_join(&e->joined, p, event, base, pp_compared_event(base, p, event)))
		return -1;
	e->order = pp_memory_zeroed(&p->memory, e->joined.tree.nr, sizeof(*e->order));
	e->times.j = &e->joined;
	e->times.order = e->order;
	return e->order ? 0 : -1;
}

/* Samples are thinned as those of all events need it. A difference has no times. */
static void choose_step(struct page *page)
{
	uint64_t all = 0;

	for (size_t i = 0; i < page->nr_events; i++)
		all += page->events[i].times.nr;
	for (size_t i = 0; i < page->nr_events; i++)
		page->events[i].times.step = page->out->o.base ? 0 :
			(all + PP_PAGE_SAMPLES - 1) / PP_PAGE_SAMPLES;
}

/* Joins the trees of the events: in a difference that of the main one. */
static int join_events(struct page *page)
{
	const struct pp_out *out = page->out;
	struct pp_profile *p = out->p;
	int ret;

	page->room = out->o.base ? 1 : p->nr_events;
	page->events = pp_memory_zeroed(&p->memory, page->room, sizeof(*page->events));
	page->places = pp_memory_zeroed(&p->memory, p->nr_merged, sizeof(*page->places));
	if (!page->events || !page->places || pp_parts_make(&page->parts, p))
		return -1;
	ret = join_event(page, out->o.event);
	for (size_t i = 0; !ret && !out->o.base && i < p->nr_events; i++)
		if (i != out->o.event && p->events[i].samples)
			ret = join_event(page, i);
	if (ret)
		return -1;
	choose_step(page);
	page->functions_room = out->o.base ? page->events[0].joined.nr_functions : p->nr_functions;
	page->functions = pp_memory_zeroed(&p->memory, page->functions_room,
					   sizeof(*page->functions));
	if (!page->functions)
		return -1;
	memset(page->functions, 0xff, page->functions_room * sizeof(*page->functions));
	return 0;
}

static void free_page(struct page *page)
{
	struct pp_memory *m = page->packing.memory;

	for (size_t i = 0; i < page->nr_events; i++) {
		struct page_event *e = &page->events[i];

		pp_memory_free(m, e->order, e->joined.tree.nr, sizeof(*e->order));
		pp_joined_free(&e->joined, m);
	}
	pp_parts_free(&page->parts);
	pp_memory_free(m, page->places, page->out->p->nr_merged, sizeof(*page->places));
	pp_memory_free(m, page->events, page->room, sizeof(*page->events));
	pp_memory_free(m, page->functions, page->functions_room, sizeof(*page->functions));
	pp_packing_free(&page->packing);
}

int pp_write_page(struct pp_out *out)
{
	struct page page = { .out = out, .packing.memory = &out->p->memory };
	const int ret = join_events(&page) ? -1 : fill_page(&page);

	free_page(&page);
	return ret;
}
