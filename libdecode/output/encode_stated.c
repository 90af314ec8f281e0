/* encode_stated.c - read `file`: the mode, the byte order and the layout. */
#include "output/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"

/* Returns the name by which a section is looked up. */
static const char *known_section(const char *name)
{
	static const char *const known[] = {
		"ids", "attrs", "data", "event_types", "own_feature_table",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(name, known[i]) == 0)
			return known[i];
	return "other";
}

static int read_stated_section(struct pd_encoder *enc, pd_node item, struct pd_section *s,
			       struct pd_encode_error *e)
{
	uint64_t attr_index = 0;
	char name[64];
	int feature;

	if (!item || enc->v->type(item) != PD_NODE_OBJECT ||
	    !pd_encode_copy_text(enc, enc->v->member(item, "name"), name, sizeof(name)))
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.sections",
				      "expected objects with a name");
	feature = pd_feature_of_name(name);
	*s = (struct pd_section){ .name = feature >= 0 ? "feature" : known_section(name),
				  .feature = feature >= 0 ? (uint32_t)feature : 0 };
	if (pd_encode_get_number(enc, item, "file.sections.", "attr_index", &attr_index, e) ||
	    pd_encode_get_number(enc, item, "file.sections.", "offset", &s->offset, e) ||
	    pd_encode_get_number(enc, item, "file.sections.", "size", &s->size, e))
		return -1;
	s->attr_index = (uint32_t)attr_index;
	s->unread = enc->v->member(item, "unread") != NULL;
	return 0;
}

static int read_sections(struct pd_encoder *enc, pd_node list, struct pd_encode_error *e)
{
	struct pd_stated *stated = &enc->stated;
	size_t n;

	if (!list)
		return 0;
	if (enc->v->type(list) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.sections", "expected an array");
	n = enc->v->length(list);
	stated->sections = calloc(n + 1, sizeof(*stated->sections));
	if (!stated->sections)
		return pd_encode_no_memory(e);
	stated->has_sections = true;
	for (size_t i = 0; i < n; i++) {
		struct pd_section *s = &stated->sections[stated->nr_sections];
		uint64_t ignored;

		if (read_stated_section(enc, enc->v->item(list, i, &ignored), s, e))
			return -1;
		stated->nr_sections++;
		if (strcmp(s->name, "ids") == 0 && pd_map_add(&stated->ids, s->attr_index, s) < 0)
			return pd_encode_no_memory(e);
	}
	return 0;
}

static int read_gaps(struct pd_encoder *enc, pd_node list, struct pd_encode_error *e)
{
	size_t n = list && enc->v->type(list) == PD_NODE_ARRAY ? enc->v->length(list) : 0;

	if (list && enc->v->type(list) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.gaps", "expected an array");
	enc->gaps = calloc(n + 1, sizeof(*enc->gaps));
	if (!enc->gaps)
		return pd_encode_no_memory(e);
	for (size_t i = 0; i < n; i++) {
		uint64_t ignored;
		pd_node item = enc->v->item(list, i, &ignored), data;
		struct pd_gap *gap = &enc->gaps[enc->nr_gaps++];

		gap->bytes.budget = &enc->budget;
		data = item && enc->v->type(item) == PD_NODE_OBJECT ? enc->v->member(item, "data") :
			NULL;
		if (!data || enc->v->type(data) != PD_NODE_TEXT ||
		    pd_unhex(enc->v->text(data), &gap->bytes))
			return pd_encode_fail(e, PD_E_ARGUMENT, "file.gaps",
					      "expected objects with offset and data");
		if (pd_encode_get_number(enc, item, "file.gaps.", "offset", &gap->offset, e))
			return -1;
	}
	return 0;
}

static int read_event_types(struct pd_encoder *enc, pd_node list, struct pd_encode_error *e)
{
	const struct pd_facts none = { .cpus_available = 0 };
	const struct pd_pack how = { .values = enc->v, .swap = enc->session.swap,
		.size = PD_EVENT_TYPE_SIZE };
	struct pd_plan *plan;
	int err = 0;

	if (!list)
		return 0;
	if (enc->v->type(list) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.event_types", "expected an array");
	plan = pd_plan_compile(pd_event_type_fields, &none, &enc->budget);
	for (size_t i = 0; plan && !err && i < enc->v->length(list); i++) {
		uint64_t ignored;
		pd_node item = enc->v->item(list, i, &ignored);
		struct pd_pack_error p;

		if (!item || enc->v->type(item) != PD_NODE_OBJECT)
			err = pd_encode_fail(e, PD_E_ARGUMENT, "file.event_types",
					     "expected objects");
		else if (pd_pack(plan, item, &how, &enc->event_types, &p))
			err = pd_encode_fail_pack(e, &p, "file.event_types");
	}
	pd_plan_free(plan);
	return err;
}

/* Creates all data.N, since some may have no records. */
static int open_files(struct pd_encoder *enc, pd_node list, struct pd_encode_error *e)
{
	if (!list || enc->mode != PD_MODE_DIRECTORY)
		return 0;
	if (enc->v->type(list) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.files", "expected an array");
	for (size_t i = 0; i < enc->v->length(list); i++) {
		uint64_t ignored;

		if (!pd_encode_open_data_n(enc, enc->v->item(list, i, &ignored), "file.files", e))
			return -1;
	}
	return 0;
}

/* A member of `file` that is one of some words. */
struct choice {
	const char *name;
	const char *words[4];		/* ended by NULL; the first is the default */
	const char *expected;
};

/* Sets *out to the place of the word. Returns 0, or -1 and *e. */
static int read_choice(const struct pd_encoder *enc, pd_node file, const struct choice *choice,
		       unsigned int *out, struct pd_encode_error *e)
{
	char path[64];

	*out = 0;
	if (!enc->v->member(file, choice->name))
		return 0;
	for (unsigned int i = 0; choice->words[i]; i++)
		if (pd_encode_text_is(enc, file, choice->name, choice->words[i])) {
			*out = i;
			return 0;
		}
	snprintf(path, sizeof(path), "file.%s", choice->name);
	return pd_encode_fail(e, PD_E_ARGUMENT, path, choice->expected);
}

/* Reads mode, byte order, magic and the numbers of the header. */
static int read_file_head(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e)
{
	static const struct choice modes = { "mode", { "file", "pipe", "directory" },
					     "expected \"file\", \"pipe\" or \"directory\"" };
	static const struct choice orders = { "byte_order", { "little", "big" },
					      "expected \"little\" or \"big\"" };
	struct pd_stated *stated = &enc->stated;
	const struct {
		const char *name;
		uint64_t *to;
	} numbers[] = {
		{ "size", &stated->size }, { "header_size", &stated->header_size },
		{ "attr_size", &stated->attr_size }, { "data_offset", &stated->data_offset },
		{ "data_size", &stated->data_size }, { "long_size", &stated->long_size },
	};
	unsigned int mode, order;

	if (read_choice(enc, file, &modes, &mode, e) || read_choice(enc, file, &orders, &order, e))
		return -1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (pd_encode_get_number(enc, file, "file.", numbers[i].name, numbers[i].to, e))
			return -1;
	stated->mode = (enum pd_mode)mode;
	stated->order = (enum pd_byte_order)order;
	stated->v1 = pd_encode_text_is(enc, file, "magic", "PERFFILE");
	stated->has_size = enc->v->member(file, "size") != NULL;
	return pd_encode_read_magic(enc, enc->v->member(file, "magic_hex"), e);
}

static int read_adds_features(struct pd_encoder *enc, pd_node list, struct pd_encode_error *e)
{
	if (list && enc->v->type(list) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.adds_features", "expected an array");
	for (size_t i = 0; list && i < enc->v->length(list); i++) {
		uint64_t ignored;
		char name[64];
		int id = pd_encode_copy_text(enc, enc->v->item(list, i, &ignored), name,
					     sizeof(name)) ? pd_feature_of_name(name) : -1;

		if (id < 0)
			return pd_encode_fail(e, PD_E_ARGUMENT, "file.adds_features",
					      "expected the name of a feature");
		enc->stated.adds_features[id] = true;
	}
	return 0;
}

int pd_encode_file(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e)
{
	if (enc->started)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file",
				      "it must precede attrs, features and records");
	enc->stated.given = true;
	if (read_file_head(enc, file, e) ||
	    read_adds_features(enc, enc->v->member(file, "adds_features"), e) ||
	    pd_encode_start(enc, e) ||
	    read_sections(enc, enc->v->member(file, "sections"), e) ||
	    read_event_types(enc, enc->v->member(file, "event_types"), e) ||
	    open_files(enc, enc->v->member(file, "files"), e))
		return -1;
	return read_gaps(enc, enc->v->member(file, "gaps"), e);
}
