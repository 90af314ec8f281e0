/* out_otlp.c - OpenTelemetry's profiles, as version 1.11 of its protocol has them; they may change.
 *
 * A profile for each event, and one dictionary: tables whose first entries stand for nothing, and
 * that have no entry twice. A sample is a stack of a task with its sum; the recording's clock is
 * not that of the format.
 */
#include <string.h>

#include "profile/groups.h"
#include "formats/mappings.h"
#include "encoding/out.h"
#include "encoding/proto.h"

/* Field numbers of profiles.proto, resource.proto and common.proto. */
enum {
	DATA_RESOURCE = 1, DATA_DICTIONARY = 2,
	RESOURCE_SCOPE = 2,
	SCOPE_ABOUT = 1, SCOPE_PROFILE = 2,
	ABOUT_NAME = 1, ABOUT_VERSION = 2,
	TABLE_MAPPING = 1, TABLE_LOCATION = 2, TABLE_FUNCTION = 3, TABLE_LINK = 4,
	TABLE_STRING = 5, TABLE_ATTRIBUTE = 6, TABLE_STACK = 7,
	PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_DURATION = 4, PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	TYPE_NAME = 1, TYPE_UNIT = 2,
	SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4,
	MAPPING_START = 1, MAPPING_LIMIT = 2, MAPPING_OFFSET = 3, MAPPING_FILE = 4,
	MAPPING_ATTRIBUTES = 5,
	STACK_LOCATIONS = 1,
	LOCATION_MAPPING = 1, LOCATION_ADDRESS = 2, LOCATION_LINE = 3, LOCATION_ATTRIBUTES = 4,
	LINE_FUNCTION = 1, LINE_NUMBER = 2,
	FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILE = 3,
	ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2,
	VALUE_TEXT = 1, VALUE_NUMBER = 3,
};

struct attribute {
	uint32_t key, text;	/* strings; text 0: a number */
	uint64_t number;
};

struct encoding {
	struct pp_out *out;
	const struct pp_profile *p;
	struct pp_proto proto;
	struct pp_message dictionary, inner, line, packed, value;
	struct pp_message *samples;	/* of each event */
	struct pp_strings strings;	/* of the dictionary */
	struct pp_mappings mappings;
	size_t nr_mappings;		/* that are in the dictionary */
	struct pp_strings locations;	/* their bytes, likewise */
	uint32_t *location_numbers;	/* of each frame: its location's, 0: not there yet */
	uint32_t *functions;		/* of each function: its number, 0: not there yet */
	struct pp_strings entries;	/* those of functions, as pairs of strings' numbers */
	struct attribute *attributes;
	size_t nr_attributes, attributes_capacity;
	struct pp_index attribute_index;
	struct pp_tree stacks;		/* frames are locations */
	uint32_t *stack_of;		/* of each node of addresses; PP_NONE: no location */
	uint32_t *stack_numbers;	/* of each node of `stacks`: its number, 0: not there yet */
	uint32_t nr_stacks;
	struct pp_strings sums;		/* struct sum of each, and its packed attributes */
	uint64_t *values;		/* of each sum */
	size_t values_capacity;
};

/* The key by which samples are added up. */
struct sum {
	uint32_t event, stack;
};

static uint32_t string_of(struct encoding *c, struct pd_bytes text)
{
	return pp_proto_number_of(&c->proto, &c->strings, text);
}

static uint32_t string_of_text(struct encoding *c, const char *text)
{
	return string_of(c, pp_bytes(text));
}

static void put_inner(struct encoding *c, unsigned int field, uint64_t n)
{
	pp_proto_number(&c->proto, &c->inner, field, n);
}

/* Ends the inner message: it becomes the next entry of a table. */
static void end_entry(struct encoding *c, unsigned int table)
{
	pp_proto_part(&c->proto, &c->dictionary, table, &c->inner);
}

/* --- attributes --- */

static bool is_same_attribute(const void *ctx, uint32_t id, const void *key)
{
	const struct attribute *have = &((const struct attribute *)ctx)[id], *want = key;

	return have->key == want->key && have->text == want->text && have->number == want->number;
}

static void put_attribute(struct encoding *c, const struct attribute *a)
{
	struct pp_message entry = { 0 };

	pp_proto_number(&c->proto, &entry, ATTRIBUTE_KEY, a->key);
	if (a->text) {
		pp_proto_string(&c->proto, &c->value, VALUE_TEXT,
				pp_strings_at(&c->strings, a->text));
	} else {	/* 0 is a value, too */
		pp_proto_varint(&c->proto, &c->value, VALUE_NUMBER << 3);
		pp_proto_varint(&c->proto, &c->value, a->number);
	}
	pp_proto_part(&c->proto, &entry, ATTRIBUTE_VALUE, &c->value);
	pp_proto_part(&c->proto, &c->dictionary, TABLE_ATTRIBUTE, &entry);
	pp_proto_free(&c->proto, &entry);
}

/* Returns the number of an attribute, which may be new; 0 without memory. */
static uint32_t attribute_of(struct encoding *c, const char *key, uint32_t text, uint64_t number)
{
	const struct attribute a = { string_of_text(c, key), text, number };
	struct pp_memory *m = c->proto.memory;
	const uint64_t mixed = pp_index_hash(&c->attribute_index,
					     (uint64_t)a.key << 32 | a.text);
	const uint32_t hash = (uint32_t)pd_hash_mix(mixed, a.number);
	const uint32_t found = pp_index_find(&c->attribute_index, hash, c->attributes, &a,
					     is_same_attribute);
	struct attribute *attributes;

	if (found != PP_NONE)
		return found + 1;
	attributes = pp_memory_grow(m, c->attributes, &c->attributes_capacity,
				    c->nr_attributes + 1, sizeof(*attributes));
	if (attributes)
		c->attributes = attributes;
	if (!attributes || pp_index_add(&c->attribute_index, m, hash, (uint32_t)c->nr_attributes)) {
		c->proto.failed = -1;
		return 0;
	}
	c->attributes[c->nr_attributes++] = a;
	put_attribute(c, &a);
	return (uint32_t)c->nr_attributes;
}

/* Adds a list with one attribute to the inner message. */
static void put_one_attribute(struct encoding *c, unsigned int field, const char *key,
			      const char *text)
{
	pp_proto_varint(&c->proto, &c->packed, attribute_of(c, key, string_of_text(c, text), 0));
	pp_proto_part(&c->proto, &c->inner, field, &c->packed);
}

/* --- locations --- */

static void put_mapping(struct encoding *c, const struct pp_mapping *m)
{
	const char *id;
	char hex[PP_BUILD_ID_TEXT];

	put_inner(c, MAPPING_START, m->start);
	put_inner(c, MAPPING_LIMIT, m->start + m->len);
	put_inner(c, MAPPING_OFFSET, m->pgoff);
	put_inner(c, MAPPING_FILE, string_of(c, pp_strings_at(&c->p->strings, m->named->image)));
	id = pp_build_id_of(c->p, m->named, hex);
	if (*id)
		put_one_attribute(c, MAPPING_ATTRIBUTES, "process.executable.build_id.gnu", id);
	end_entry(c, TABLE_MAPPING);
}

/* Returns the number of a function, which may be new. Functions of two files may share an entry: it
 * does not have the file that is mapped. */
static uint32_t number_function(struct encoding *c, uint32_t function)
{
	const struct pp_named *f = &c->p->functions[function];
	const size_t before = c->entries.nr;
	uint32_t pair[2], number;

	if (c->functions[function])
		return c->functions[function];
	pair[0] = string_of(c, pp_strings_at(&c->p->strings, f->name));
	pair[1] = f->file == PP_NONE ? 0 : string_of(c, pp_strings_at(&c->p->strings, f->file));
	number = pp_proto_number_of(&c->proto, &c->entries,
				    (struct pd_bytes){ (uint8_t *)pair, sizeof(pair) });
	if (number == before) {
		put_inner(c, FUNCTION_NAME, pair[0]);
		put_inner(c, FUNCTION_SYSTEM_NAME, pair[0]);
		put_inner(c, FUNCTION_FILE, pair[1]);
		end_entry(c, TABLE_FUNCTION);
	}
	return c->functions[function] = number + 1;
}

/* Innermost first. Functions become entries before the location is begun. */
static void put_lines(struct encoding *c, uint32_t frame)
{
	const struct pp_profile *p = c->p;

	for (uint32_t k = p->first_step[frame]; k < p->first_step[frame + 1]; k++)
		number_function(c, p->steps[k].function);
	for (uint32_t k = p->first_step[frame + 1]; k-- > p->first_step[frame];) {
		pp_proto_number(&c->proto, &c->line, LINE_FUNCTION,
				c->functions[p->steps[k].function]);
		pp_proto_number(&c->proto, &c->line, LINE_NUMBER, p->steps[k].line);
		pp_proto_part(&c->proto, &c->inner, LOCATION_LINE, &c->line);
	}
}

/* Returns the number of a frame's location, which may be new: addresses without a map and a name
 * are one. */
static uint32_t add_location(struct encoding *c, uint32_t frame)
{
	const uint32_t mapping = c->mappings.of_frame[frame];
	const uint8_t kind = c->p->frames.items[frame].kind;
	const size_t before = c->locations.nr;
	uint32_t number;

	for (; c->nr_mappings < c->mappings.nr; c->nr_mappings++)
		put_mapping(c, &c->mappings.items[c->nr_mappings]);
	if (c->p->options.namer || mapping == PP_NONE)
		put_lines(c, frame);
	if (mapping != PP_NONE) {
		put_inner(c, LOCATION_MAPPING, mapping + 1);
		put_inner(c, LOCATION_ADDRESS, pp_location_address(&c->mappings, frame));
	}
	if (kind < PP_KIND_UNKNOWN)
		put_one_attribute(c, LOCATION_ATTRIBUTES, "profile.frame.type",
				  kind == PP_KIND_KERNEL ? "kernel" : "native");
	number = pp_proto_number_of(&c->proto, &c->locations,
				    (struct pd_bytes){ c->inner.bytes, c->inner.size });
	if (number == before)
		end_entry(c, TABLE_LOCATION);
	c->inner.size = 0;
	return number;
}

/* Returns the number of a frame's location; 0: it stands for no code. */
static uint32_t location_of(struct encoding *c, uint32_t frame)
{
	if (!c->location_numbers[frame] && pp_location_of(&c->mappings, frame))
		c->location_numbers[frame] = add_location(c, frame);
	return c->location_numbers[frame];
}

/* --- stacks --- */

/* Marks the nodes of stacks that have samples; parents come before their children. */
static void mark_used(const struct pp_profile *p, uint32_t *marks)
{
	for (size_t i = p->tree.nr; i--;) {
		const struct pp_node *n = &p->tree.nodes[i];

		marks[i] |= n->samples && !p->places[i].is_left_out;
		if (marks[i] && n->parent != PP_NONE)
			marks[n->parent] = 1;
	}
}

/* Sets the stack of each node, and makes entries of its locations. */
static void make_stacks(struct encoding *c)
{
	const struct pp_profile *p = c->p;

	mark_used(p, c->stack_of);
	for (size_t i = 0; i < p->tree.nr; i++) {
		const struct pp_node *n = &p->tree.nodes[i];
		const uint32_t above = n->parent == PP_NONE ? PP_NONE : c->stack_of[n->parent];
		const uint32_t location = c->stack_of[i] ? location_of(c, n->frame) : 0;

		c->stack_of[i] = above;
		if (!location)
			continue;
		c->stack_of[i] = pp_tree_child(&c->stacks, c->proto.memory, above, location);
		if (c->stack_of[i] == PP_NONE)
			c->proto.failed = -1;
	}
}

/* Returns the number of a stack, which may be new; 0: it is empty. */
static uint32_t number_stack(struct encoding *c, uint32_t stack)
{
	if (stack == PP_NONE || c->stack_numbers[stack])
		return stack == PP_NONE ? 0 : c->stack_numbers[stack];
	for (uint32_t at = stack; at != PP_NONE; at = c->stacks.nodes[at].parent)
		pp_proto_varint(&c->proto, &c->packed, c->stacks.nodes[at].frame);
	pp_proto_part(&c->proto, &c->inner, STACK_LOCATIONS, &c->packed);
	end_entry(c, TABLE_STACK);
	return c->stack_numbers[stack] = ++c->nr_stacks;
}

/* --- samples --- */

static uint32_t attribute_of_group(struct encoding *c, uint32_t frame, enum pp_group group)
{
	static const struct {
		enum pp_group group;
		const char *key;
	} keys[] = {
		{ PP_GROUP_COMM, "thread.name" }, { PP_GROUP_CGROUP, "process.linux.cgroup" },
		{ PP_GROUP_PID, "process.pid" }, { PP_GROUP_TID, "thread.id" },
		{ PP_GROUP_CPU, "cpu.logical_number" },
	};
	const struct pp_profile *p = c->p;
	struct pd_bytes text = pp_strings_at(&p->strings, p->frames.items[frame].text);
	uint64_t number = 0;
	size_t i = 0;

	while (keys[i].group != group)
		i++;
	if (pp_group_number(group, &text, &number))
		return attribute_of(c, keys[i].key, 0, number);
	return text.size ? attribute_of(c, keys[i].key, string_of(c, text), 0) : 0;
}

/* The frames above the stack, from the innermost. */
static void pack_attributes(struct encoding *c, uint32_t node)
{
	const struct pp_profile *p = c->p;
	const struct pp_node *nodes = p->tree.nodes;
	size_t n = 0;

	for (uint32_t at = node; at != PP_NONE; at = nodes[at].parent)
		n += p->frames.items[nodes[at].frame].kind == PP_KIND_THREAD;
	for (uint32_t at = node; at != PP_NONE; at = nodes[at].parent) {
		uint32_t attribute;

		if (p->frames.items[nodes[at].frame].kind != PP_KIND_THREAD)
			continue;
		attribute = attribute_of_group(c, nodes[at].frame, (enum pp_group)
					       pp_group_at(p->options.groups, --n));
		if (attribute)
			pp_proto_varint(&c->proto, &c->packed, attribute);
	}
}

/* Adds the samples of a node to those of its event, stack and attributes. */
static void add_samples(struct encoding *c, uint32_t node)
{
	const struct pp_node *n = &c->p->tree.nodes[node];
	const struct sum sum = { c->p->places[node].event, number_stack(c, c->stack_of[node]) };
	const size_t before = c->sums.nr;
	uint64_t *values;
	uint32_t i;

	pp_proto_bytes(&c->proto, &c->packed, &sum, sizeof(sum));
	pack_attributes(c, node);
	i = pp_proto_number_of(&c->proto, &c->sums,
			       (struct pd_bytes){ c->packed.bytes, c->packed.size });
	c->packed.size = 0;
	values = pp_memory_grow(c->proto.memory, c->values, &c->values_capacity, i + 1,
				sizeof(*values));
	if (values)
		c->values = values;
	else
		c->proto.failed = -1;
	if (c->proto.failed)
		return;
	c->values[i] = (i == before ? 0 : c->values[i]) +
		       (c->out->o.measure == PP_BY_PERIOD ? n->weight : n->samples);
}

static void put_sample(struct encoding *c, uint32_t i)
{
	struct pd_bytes attributes = pp_strings_at(&c->sums, i);
	struct sum sum;

	memcpy(&sum, attributes.data, sizeof(sum));
	attributes.data += sizeof(sum);
	attributes.size -= sizeof(sum);
	put_inner(c, SAMPLE_STACK, sum.stack);
	pp_proto_bytes(&c->proto, &c->packed, attributes.data, attributes.size);
	if (c->packed.size)
		pp_proto_part(&c->proto, &c->inner, SAMPLE_ATTRIBUTES, &c->packed);
	pp_proto_varint(&c->proto, &c->packed, c->values[i]);
	pp_proto_part(&c->proto, &c->inner, SAMPLE_VALUES, &c->packed);
	pp_proto_part(&c->proto, &c->samples[sum.event], PROFILE_SAMPLE, &c->inner);
}

/* --- profiles --- */

static const char *time_of(const struct encoding *c, const struct pp_weigher *w)
{
	if (!w->is_off_cpu)
		return "cpu";
	return c->p->options.state == PP_WALL ? "wall" : "off_cpu";
}

static void put_type(struct encoding *c, struct pp_message *to, unsigned int field,
		     const struct pp_weigher *w)
{
	const bool is_count = c->out->o.measure == PP_BY_SAMPLES;
	const bool is_time = w->is_time && !is_count;

	put_inner(c, TYPE_NAME, string_of_text(c, is_count ? "samples" : is_time ?
					       time_of(c, w) : w->name));
	put_inner(c, TYPE_UNIT, string_of_text(c, is_time ? "nanoseconds" : "count"));
	pp_proto_part(&c->proto, to, field, &c->inner);
}

/* Adds what is known of an event to its samples, which are a profile then. */
static void end_profile(struct encoding *c, size_t event, struct pp_message *scope)
{
	const struct pp_profile *p = c->p;
	const struct pp_weigher *w = &p->events[event].weigher;
	struct pp_message *profile = &c->samples[event];

	put_type(c, profile, PROFILE_TYPE, w);
	if (p->counts.first != PD_NO_TIME)
		pp_proto_number(&c->proto, profile, PROFILE_DURATION,
				p->counts.last - p->counts.first);
	if (pp_nominal_period(w) && c->out->o.measure == PP_BY_PERIOD) {
		put_type(c, profile, PROFILE_PERIOD_TYPE, w);
		pp_proto_number(&c->proto, profile, PROFILE_PERIOD, pp_nominal_period(w));
	}
	pp_proto_part(&c->proto, scope, SCOPE_PROFILE, profile);
}

/* The first entry of each table stands for nothing. */
static void start_tables(struct encoding *c)
{
	static const unsigned int tables[] = { TABLE_MAPPING, TABLE_LOCATION, TABLE_FUNCTION,
					       TABLE_LINK, TABLE_ATTRIBUTE, TABLE_STACK };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		end_entry(c, tables[i]);
	string_of_text(c, "");
	pp_proto_number_of(&c->proto, &c->locations, pp_bytes(""));
}

static void put_file(struct encoding *c, struct pp_message *file)
{
	struct pp_message scope = { 0 };

	pp_proto_string(&c->proto, &c->inner, ABOUT_NAME, pp_bytes("preport"));
	pp_proto_string(&c->proto, &c->inner, ABOUT_VERSION, pp_bytes(PD_VERSION));
	pp_proto_part(&c->proto, &scope, SCOPE_ABOUT, &c->inner);
	for (size_t i = 0; i < c->p->nr_events; i++)
		if (pp_is_column(c->p, i))
			end_profile(c, i, &scope);
	pp_proto_part(&c->proto, &c->value, RESOURCE_SCOPE, &scope);
	pp_proto_part(&c->proto, file, DATA_RESOURCE, &c->value);
	for (uint32_t i = 0; i < c->strings.nr; i++)
		pp_proto_string(&c->proto, &c->dictionary, TABLE_STRING,
				pp_strings_at(&c->strings, i));
	pp_proto_part(&c->proto, file, DATA_DICTIONARY, &c->dictionary);
	pp_proto_free(&c->proto, &scope);
}

static void encode_profiles(struct encoding *c, struct pp_message *file)
{
	const struct pp_profile *p = c->p;
	struct pp_memory *m = c->proto.memory;

	start_tables(c);
	make_stacks(c);
	c->stack_numbers = pp_memory_zeroed(m, c->stacks.nr, sizeof(*c->stack_numbers));
	if (!c->stack_numbers || c->mappings.failed)
		c->proto.failed = -1;
	for (uint32_t i = 0; i < p->tree.nr && !c->proto.failed; i++)
		if (p->tree.nodes[i].samples && !p->places[i].is_left_out)
			add_samples(c, i);
	for (uint32_t i = 0; i < c->sums.nr && !c->proto.failed; i++)
		put_sample(c, i);
	if (!c->proto.failed)
		put_file(c, file);
	pp_memory_free(m, c->stack_numbers, c->stacks.nr, sizeof(*c->stack_numbers));
}

static void free_encoding(struct encoding *c)
{
	const struct pp_profile *p = c->p;
	struct pp_memory *m = c->proto.memory;

	for (size_t i = 0; c->samples && i < p->nr_events; i++)
		pp_proto_free(&c->proto, &c->samples[i]);
	pp_memory_free(m, c->samples, p->nr_events, sizeof(*c->samples));
	pp_memory_free(m, c->functions, p->nr_functions, sizeof(*c->functions));
	pp_memory_free(m, c->stack_of, p->tree.nr, sizeof(*c->stack_of));
	pp_memory_free(m, c->attributes, c->attributes_capacity, sizeof(*c->attributes));
	pp_index_free(&c->attribute_index, m);
	pp_tree_free(&c->stacks, m);
	pp_strings_free(&c->strings, m);
	pp_strings_free(&c->entries, m);
	pp_strings_free(&c->locations, m);
	pp_memory_free(m, c->location_numbers, p->frames.nr, sizeof(*c->location_numbers));
	pp_strings_free(&c->sums, m);
	pp_memory_free(m, c->values, c->values_capacity, sizeof(*c->values));
	pp_mappings_end(&c->mappings);
	pp_proto_free(&c->proto, &c->dictionary);
	pp_proto_free(&c->proto, &c->inner);
	pp_proto_free(&c->proto, &c->line);
	pp_proto_free(&c->proto, &c->packed);
	pp_proto_free(&c->proto, &c->value);
}

int pp_write_otlp(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct pp_memory *m = &p->memory;
	struct encoding c = { .out = out, .p = p, .proto.memory = m, .mappings.memory = m };
	struct pp_message file = { 0 };

	c.samples = pp_memory_zeroed(m, p->nr_events, sizeof(*c.samples));
	c.functions = pp_memory_zeroed(m, p->nr_functions, sizeof(*c.functions));
	c.stack_of = pp_memory_zeroed(m, p->tree.nr, sizeof(*c.stack_of));
	c.location_numbers = pp_memory_zeroed(m, p->frames.nr, sizeof(*c.location_numbers));
	if (pp_mappings_start(&c.mappings, p) || !c.samples || !c.functions || !c.stack_of ||
	    !c.location_numbers)
		c.proto.failed = -1;
	else
		encode_profiles(&c, &file);
	if (!c.proto.failed)
		pp_put(out, (const char *)file.bytes, file.size);
	pp_proto_free(&c.proto, &file);
	free_encoding(&c);
	return c.proto.failed;
}
