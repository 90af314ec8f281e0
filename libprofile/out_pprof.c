/* out_pprof.c - a profile for pprof: profile.proto, gzip around it.
 *
 * Locations are functions, not addresses: viewers show the same names. A stack
 * is a sample for each name of a thread, with two values.
 */
#include <string.h>
#include <zlib.h>

#include "out.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_TEXT = 2,
	MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
	VARINT = 0, BYTES = 2,
};

/* Strings of the profile, and their places in the file: 0 is "". */
enum { NO_STRING = 0 };

struct message {
	uint8_t *bytes;
	size_t size, capacity;
};

struct encoding {
	struct pp_out *out;
	struct pp_memory *memory;
	struct message file, inner, packed;
	struct pp_strings strings;	/* of the file */
	uint8_t *is_used;	/* functions that have a location */
	int failed;
};

/* --- the wire format --- */

static void put_bytes(struct encoding *c, struct message *m, const void *data, size_t size)
{
	uint8_t *bytes = c->failed ? NULL :
		pp_memory_grow(c->memory, m->bytes, &m->capacity, m->size + size, 1);

	if (!bytes) {
		c->failed = -1;
		return;
	}
	m->bytes = bytes;
	if (size)
		memcpy(bytes + m->size, data, size);
	m->size += size;
}

static void put_varint(struct encoding *c, struct message *m, uint64_t n)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (; n > 127; n >>= 7)
		bytes[size++] = (uint8_t)(n | 128);
	bytes[size++] = (uint8_t)n;
	put_bytes(c, m, bytes, size);
}

static void put_number(struct encoding *c, struct message *m, unsigned int field, uint64_t n)
{
	put_varint(c, m, field << 3 | VARINT);
	put_varint(c, m, n);
}

static void put_part(struct encoding *c, struct message *m, unsigned int field, const void *data,
		     size_t size)
{
	put_varint(c, m, field << 3 | BYTES);
	put_varint(c, m, size);
	put_bytes(c, m, data, size);
}

/* Ends the inner message: it becomes a field of the file. */
static void end_inner(struct encoding *c, unsigned int field)
{
	put_part(c, &c->file, field, c->inner.bytes, c->inner.size);
	c->inner.size = 0;
}

static uint32_t string_of(struct encoding *c, struct pd_bytes text)
{
	const uint32_t id = pp_strings_add(&c->strings, c->memory, (const char *)text.data,
					   text.size);

	if (id == PP_NONE)
		c->failed = -1;
	return id == PP_NONE ? NO_STRING : id;
}

static uint32_t word(struct encoding *c, const char *text)
{
	return string_of(c, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}

static void put_type(struct encoding *c, unsigned int field, const char *name, const char *unit)
{
	put_number(c, &c->inner, TYPE_NAME, word(c, name));
	put_number(c, &c->inner, TYPE_UNIT, word(c, unit));
	end_inner(c, field);
}

/* --- functions --- */

static bool is_location(const struct pp_named *f)
{
	return f->kind <= PP_KIND_UNKNOWN || f->kind == PP_KIND_NOTE;
}

static void put_mapping(struct encoding *c, const struct pp_named *f)
{
	const struct pp_profile *p = c->out->p;
	char hex[PP_BUILD_ID_TEXT];

	put_number(c, &c->inner, MAPPING_ID, f->image + 1);
	put_number(c, &c->inner, MAPPING_FILE, string_of(c, pp_strings_at(&p->strings, f->image)));
	if (*pp_build_id_of(p, f, hex))
		put_number(c, &c->inner, MAPPING_BUILD_ID, word(c, hex));
	put_number(c, &c->inner, MAPPING_HAS_FUNCTIONS, 1);
	end_inner(c, PROFILE_MAPPING);
}

/* pprof calls the first mapping "File": the program that most of the stacks begin in. */
static void put_mappings(struct encoding *c)
{
	const struct pp_profile *p = c->out->p;
	const size_t nr = p->strings.nr;
	uint8_t *is_there = pp_memory_zeroed(c->memory, nr, 1);

	if (!is_there)
		c->failed = -1;
	for (int others = 0; is_there && others < 2; others++)
		for (size_t i = 0; i < p->nr_functions; i++) {
			const struct pp_named *f = &p->functions[i];

			if (!c->is_used[i] || is_there[f->image] ||
			    (!others && f->kind != PP_KIND_PROGRAM))
				continue;
			is_there[f->image] = 1;
			put_mapping(c, f);
		}
	pp_memory_free(c->memory, is_there, nr, 1);
}

static void put_function(struct encoding *c, size_t i)
{
	const struct pp_named *f = &c->out->p->functions[i];
	const uint32_t name = string_of(c, pp_strings_at(&c->out->p->strings, f->name));

	put_number(c, &c->inner, FUNCTION_ID, i + 1);
	put_number(c, &c->inner, FUNCTION_NAME, name);
	put_number(c, &c->inner, FUNCTION_SYSTEM_NAME, name);
	if (f->file != PP_NONE)
		put_number(c, &c->inner, FUNCTION_FILE,
			   string_of(c, pp_strings_at(&c->out->p->strings, f->file)));
	end_inner(c, PROFILE_FUNCTION);
	c->packed.size = 0;
	put_number(c, &c->packed, LINE_FUNCTION, i + 1);
	put_number(c, &c->inner, LOCATION_ID, i + 1);
	put_number(c, &c->inner, LOCATION_MAPPING, f->image + 1);
	put_part(c, &c->inner, LOCATION_LINE, c->packed.bytes, c->packed.size);
	end_inner(c, PROFILE_LOCATION);
}

/* --- samples --- */

static void put_sample(struct encoding *c, const struct pp_merged *n)
{
	const struct pp_profile *p = c->out->p;
	uint32_t thread = PP_NONE;

	c->packed.size = 0;
	for (const struct pp_merged *at = n; at->parent != PP_NONE; at = &p->merged[at->parent]) {
		const struct pp_named *f = &p->functions[at->function];

		if (f->kind == PP_KIND_THREAD)
			thread = f->name;
		if (!is_location(f))
			continue;
		c->is_used[at->function] = 1;
		put_varint(c, &c->packed, at->function + 1);
	}
	put_part(c, &c->inner, SAMPLE_LOCATION, c->packed.bytes, c->packed.size);
	c->packed.size = 0;
	put_varint(c, &c->packed, n->samples);
	put_varint(c, &c->packed, n->weight);
	put_part(c, &c->inner, SAMPLE_VALUE, c->packed.bytes, c->packed.size);
	if (thread != PP_NONE) {
		c->packed.size = 0;
		put_number(c, &c->packed, LABEL_KEY, word(c, "comm"));
		put_number(c, &c->packed, LABEL_TEXT,
			   string_of(c, pp_strings_at(&p->strings, thread)));
		put_part(c, &c->inner, SAMPLE_LABEL, c->packed.bytes, c->packed.size);
	}
	end_inner(c, PROFILE_SAMPLE);
}

static void encode_profile(struct encoding *c)
{
	struct pp_profile *p = c->out->p;
	const struct pp_counted_event *e = &p->events[c->out->o.event];
	const char *name = e->weigher.is_time ? "cpu" : e->weigher.name;
	const char *unit = e->weigher.is_time ? "nanoseconds" : "count";

	word(c, "");
	put_type(c, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_type(c, PROFILE_SAMPLE_TYPE, name, unit);
	for (uint32_t i = e->merged; i != PP_NONE; i = pp_next_below(p, e->merged, i))
		if (p->merged[i].samples)
			put_sample(c, &p->merged[i]);
	put_mappings(c);
	for (size_t i = 0; i < p->nr_functions; i++)
		if (c->is_used[i])
			put_function(c, i);
	if (p->counts.first != PD_NO_TIME)
		put_number(c, &c->file, PROFILE_DURATION, p->counts.last - p->counts.first);
	put_type(c, PROFILE_PERIOD_TYPE, name, unit);
	put_number(c, &c->file, PROFILE_PERIOD, e->weigher.period);
	put_number(c, &c->file, PROFILE_DEFAULT_TYPE, word(c, name));
	for (size_t i = 0; i < c->strings.nr; i++) {
		const struct pd_bytes text = pp_strings_at(&c->strings, (uint32_t)i);

		put_part(c, &c->file, PROFILE_STRING, text.data, text.size);
	}
}

/* Without a time or a name in the gzip header: the same bytes every time. */
static int put_gzip(struct encoding *c)
{
	z_stream z = { .next_in = c->file.bytes, .avail_in = (uInt)c->file.size };
	uint8_t buffer[1 << 14];
	int ret;

	if (c->failed || c->file.size > UINT32_MAX ||
	    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	do {
		z.next_out = buffer;
		z.avail_out = sizeof(buffer);
		ret = deflate(&z, Z_FINISH);
		pp_put(c->out, (const char *)buffer, sizeof(buffer) - z.avail_out);
	} while (ret == Z_OK);
	deflateEnd(&z);
	return ret == Z_STREAM_END ? 0 : -1;
}

int pp_write_pprof(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct encoding c = { .out = out, .memory = &p->memory };
	int ret = -1;

	c.is_used = pp_memory_zeroed(c.memory, p->nr_functions, 1);
	if (c.is_used) {
		encode_profile(&c);
		ret = put_gzip(&c);
	}
	pp_memory_free(c.memory, c.is_used, p->nr_functions, 1);
	pp_memory_free(c.memory, c.file.bytes, c.file.capacity, 1);
	pp_memory_free(c.memory, c.inner.bytes, c.inner.capacity, 1);
	pp_memory_free(c.memory, c.packed.bytes, c.packed.capacity, 1);
	pp_strings_free(&c.strings, c.memory);
	return ret;
}
