/* encode_stated.c - read `file`: the mode, the byte order and the layout. */
#include "output/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"

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
		uint64_t ignored, attr_index = 0;
		pd_node item = enc->v->item(list, i, &ignored);
		struct pd_section *s = &stated->sections[stated->nr_sections];
		char name[64];
		int feature;

		if (!item || enc->v->type(item) != PD_NODE_OBJECT ||
		    !pd_encode_copy_text(enc, enc->v->member(item, "name"), name, sizeof(name)))
			return pd_encode_fail(e, PD_E_ARGUMENT, "file.sections",
					      "expected objects with a name");
		feature = pd_feature_of_name(name);
		*s = (struct pd_section){
			.name = feature >= 0 ? "feature" : strcmp(name, "ids") == 0 ? "ids" :
				strcmp(name, "attrs") == 0 ? "attrs" : strcmp(name, "data") == 0 ?
					"data" :
				strcmp(name, "event_types") == 0 ? "event_types" :
				strcmp(name, "own_feature_table") == 0 ? "own_feature_table" :
									 "other",
			.feature = feature >= 0 ? (uint32_t)feature : 0,
		};
		if (pd_encode_get_number(enc, item, "file.sections.", "attr_index", &attr_index,
					 e) ||
		    pd_encode_get_number(enc, item, "file.sections.", "offset", &s->offset, e) ||
		    pd_encode_get_number(enc, item, "file.sections.", "size", &s->size, e))
			return -1;
		s->attr_index = (uint32_t)attr_index;
		s->unread = enc->v->member(item, "unread") != NULL;
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

static int read_choice(const struct pd_encoder *enc, pd_node file, const char *name,
		       const char *const *texts, unsigned int n,
		       const char *otherwise, unsigned int *out, struct pd_encode_error *e)
{
	char path[64];

	*out = 0;
	if (!enc->v->member(file, name))
		return 0;
	for (unsigned int i = 0; i < n; i++)
		if (pd_encode_text_is(enc, file, name, texts[i])) {
			*out = i;
			return 0;
		}
	snprintf(path, sizeof(path), "file.%s", name);
	return pd_encode_fail(e, PD_E_ARGUMENT, path, otherwise);
}

int pd_encode_file(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e)
{
	static const char *const modes[] = { "file", "pipe",
		"directory" }, *const orders[] = { "little", "big" };
	struct pd_stated *stated = &enc->stated;
	pd_node bits = enc->v->member(file, "adds_features");
	unsigned int mode, order;

	if (enc->started)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file",
				      "it must precede attrs, features and records");
	stated->given = true;
	if (read_choice(enc, file, "mode", modes, 3, "expected \"file\", \"pipe\" or \"directory\"",
			&mode, e) ||
	    read_choice(enc, file, "byte_order", orders, 2, "expected \"little\" or \"big\"",
			&order, e) ||
	    pd_encode_get_number(enc, file, "file.", "size", &stated->size, e) ||
	    pd_encode_get_number(enc, file, "file.", "header_size", &stated->header_size, e) ||
	    pd_encode_get_number(enc, file, "file.", "attr_size", &stated->attr_size, e) ||
	    pd_encode_get_number(enc, file, "file.", "data_offset", &stated->data_offset, e) ||
	    pd_encode_get_number(enc, file, "file.", "data_size", &stated->data_size, e) ||
	    pd_encode_get_number(enc, file, "file.", "long_size", &stated->long_size, e))
		return -1;
	stated->mode = (enum pd_mode)mode;
	stated->order = (enum pd_byte_order)order;
	stated->v1 = pd_encode_text_is(enc, file, "magic", "PERFFILE");
	if (pd_encode_read_magic(enc, enc->v->member(file, "magic_hex"), e))
		return -1;
	stated->has_size = enc->v->member(file, "size") != NULL;
	if (bits && enc->v->type(bits) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.adds_features", "expected an array");
	for (size_t i = 0; bits && i < enc->v->length(bits); i++) {
		uint64_t ignored;
		char name[64];
		pd_node bit = enc->v->item(bits, i, &ignored);
		int id = pd_encode_copy_text(enc, bit, name, sizeof(name)) ?
			pd_feature_of_name(name) : -1;

		if (id < 0)
			return pd_encode_fail(e, PD_E_ARGUMENT, "file.adds_features",
					      "expected the name of a feature");
		stated->adds_features[id] = true;
	}
	if (pd_encode_start(enc, e) || read_sections(enc, enc->v->member(file, "sections"), e) ||
	    read_event_types(enc, enc->v->member(file, "event_types"), e) ||
	    open_files(enc, enc->v->member(file, "files"), e))
		return -1;
	return read_gaps(enc, enc->v->member(file, "gaps"), e);
}
