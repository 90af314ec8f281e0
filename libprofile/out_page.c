/* out_page.c - one HTML file: the page, and the tree as compressed data in it.
 *
 * The data: the size of a JSON text, 4 bytes; that text; and the nodes in preorder, as varints:
 * levels to go up from the last node, function, weight, samples. zlib, in base64.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "out.h"
#include "page.h"

struct packing {
	struct pp_out *out;
	struct pp_memory *memory;
	uint8_t *bytes;
	size_t size, capacity;
	int failed;
	uint32_t *numbers;	/* of each function: its place in the page, PP_NONE: not there */
	uint32_t nr_functions, nr_nodes;
};

static void add_bytes(struct packing *k, const void *data, size_t size)
{
	uint8_t *bytes = k->failed ? NULL :
		pp_memory_grow(k->memory, k->bytes, &k->capacity, k->size + size, 1);

	if (!bytes) {
		k->failed = -1;
		return;
	}
	k->bytes = bytes;
	memcpy(bytes + k->size, data, size);
	k->size += size;
}

static void add_text(struct packing *k, const char *text)
{
	add_bytes(k, text, strlen(text));
}

static void add_varint(struct packing *k, uint64_t n)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (; n > 127; n >>= 7)
		bytes[size++] = (uint8_t)(n | 128);
	bytes[size++] = (uint8_t)n;
	add_bytes(k, bytes, size);
}

/* Controls are written as the text of an escape, as in tables. */
static void add_string(struct packing *k, struct pd_bytes text)
{
	add_text(k, "\"");
	while (text.size) {
		const uint8_t *start = text.data;
		const uint32_t c = pp_next_character(&text);
		char escape[16] = "";

		if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", (char)c);
		else if (c >= 0x110000 || (c < 0x100 && pp_is_control(c)))
			snprintf(escape, sizeof(escape), "\\\\x%02x", c & 0xff);
		else if (pp_is_control(c))
			snprintf(escape, sizeof(escape), "\\\\u%04x", c);
		if (*escape)
			add_text(k, escape);
		else
			add_bytes(k, start, (size_t)(text.data - start));
	}
	add_text(k, "\"");
}

static void add_chars(struct packing *k, const char *text)
{
	add_string(k, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

static void add_function(struct packing *k, const struct pp_named *f)
{
	const struct pp_strings *s = &k->out->p->strings;
	char text[64];

	add_text(k, k->nr_functions ? ",[" : "[");
	add_string(k, pp_strings_at(s, f->name));
	add_text(k, ",");
	add_string(k, pp_strings_at(s, f->image));
	snprintf(text, sizeof(text), ",%u,", f->kind);
	add_text(k, text);
	add_chars(k, f->kind <= PP_KIND_UNKNOWN ? pd_why_name(f->why) : "");
	if (f->file != PP_NONE) {
		add_text(k, ",");
		add_string(k, pp_strings_at(s, f->file));
	}
	add_text(k, "]");
}

/* Only functions of this event are in the page, in the order in which the nodes have them. */
static void add_functions(struct packing *k, uint32_t root)
{
	const struct pp_profile *p = k->out->p;

	add_text(k, "\"functions\":[");
	for (uint32_t i = root; i != PP_NONE; i = pp_next_below(p, root, i)) {
		const uint32_t f = p->merged[i].function;

		k->nr_nodes++;
		if (k->numbers[f] != PP_NONE)
			continue;
		add_function(k, &p->functions[f]);
		k->numbers[f] = k->nr_functions++;
	}
	add_text(k, "]");
}

static void add_facts(struct packing *k, const struct pp_counted_event *e)
{
	const struct pp_counts *c = &k->out->p->counts;
	char text[1024], idle[64] = "";

	if (e->idle_samples)
		snprintf(idle, sizeof(idle), "; %" PRIu64 " idle samples left out",
			 e->idle_samples);
	snprintf(text, sizeof(text), "%" PRIu64 " samples of %s; %zu thread%s; %" PRIu64 " lost, %"
		 PRIu64 " throttled; %" PRIu64 " stacks cut%s", e->samples, e->weigher.name,
		 k->out->p->nr_threads, k->out->p->nr_threads == 1 ? "" : "s", c->lost,
		 c->throttled, c->cut, idle);
	add_text(k, "\"facts\":");
	add_chars(k, text);
}

static void add_json(struct packing *k, const struct pp_counted_event *e)
{
	const size_t start = k->size;
	char text[64];
	uint32_t size;

	add_text(k, "    {\"title\":");
	add_chars(k, k->out->o.title ? k->out->o.title : "perf.data");
	add_text(k, ",\"event\":");
	add_chars(k, e->weigher.name);
	add_text(k, e->weigher.is_time ? ",\"unit\":\"ns\"," : ",\"unit\":\"count\",");
	add_text(k, e->weigher.has_no_weight || k->out->o.measure == PP_BY_SAMPLES ?
		 "\"has_periods\":false," : "\"has_periods\":true,");
	if (k->out->o.theme != PP_THEME_OF_SYSTEM)
		add_text(k, k->out->o.theme == PP_THEME_DARK ? "\"theme\":\"dark\"," :
			 "\"theme\":\"light\",");
	add_facts(k, e);
	add_text(k, ",");
	add_functions(k, e->merged);
	snprintf(text, sizeof(text), ",\"nodes\":%" PRIu32 "}", k->nr_nodes);
	add_text(k, text);
	size = (uint32_t)(k->size - start - 4);
	for (size_t i = 0; !k->failed && i < 4; i++)
		k->bytes[start + i] = (uint8_t)(size >> (8 * i));
}

static void add_nodes(struct packing *k, uint32_t root)
{
	const struct pp_profile *p = k->out->p;
	uint32_t last = PP_NONE;

	for (uint32_t i = root; i != PP_NONE; i = pp_next_below(p, root, i)) {
		const struct pp_merged *n = &p->merged[i];
		uint64_t up = 0;

		for (; last != PP_NONE && last != n->parent; last = p->merged[last].parent)
			up++;
		add_varint(k, i == root ? 0 : up);
		add_varint(k, k->numbers[n->function]);
		add_varint(k, n->weight);
		add_varint(k, n->samples);
		last = i;
	}
}

static void put_base64(struct pp_out *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t n = (uint32_t)bytes[i] << 16 |
				   (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				   (left > 2 ? bytes[i + 2] : 0);
		const char four[] = { digits[n >> 18], digits[n >> 12 & 63],
				      left > 1 ? digits[n >> 6 & 63] : '=',
				      left > 2 ? digits[n & 63] : '=' };

		pp_put(out, four, sizeof(four));
	}
}

static int put_page(struct packing *k)
{
	uLongf size = compressBound(k->size);
	const uLongf room = size;
	uint8_t *packed = k->failed ? NULL : pp_memory_zeroed(k->memory, room, 1);
	const char *data = strstr(pp_page, PP_PAGE_DATA);
	int ret = -1;

	if (packed && compress2(packed, &size, k->bytes, k->size, 9) == Z_OK) {
		pp_put(k->out, pp_page, (size_t)(data - pp_page));
		put_base64(k->out, packed, size);
		pp_put_text(k->out, data + strlen(PP_PAGE_DATA));
		ret = 0;
	}
	pp_memory_free(k->memory, packed, room, 1);
	return ret;
}

int pp_write_page(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	const struct pp_counted_event *e = &p->events[out->o.event];
	struct packing k = { .out = out, .memory = &p->memory };
	int ret = -1;

	k.numbers = pp_memory_zeroed(k.memory, p->nr_functions, sizeof(*k.numbers));
	if (k.numbers) {
		memset(k.numbers, 0xff, p->nr_functions * sizeof(*k.numbers));
		add_json(&k, e);
		add_nodes(&k, e->merged);
		ret = put_page(&k);
	}
	pp_memory_free(k.memory, k.bytes, k.capacity, 1);
	pp_memory_free(k.memory, k.numbers, p->nr_functions, sizeof(*k.numbers));
	return ret;
}
