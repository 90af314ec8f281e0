/* encode.c - encode the parts of the JSON, one by one. */
#include "base/argument.h"
#include "output/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "layout/container.h"
#include "layout/names_tables.h"

struct pd_encoder *pd_encoder_new(const struct pd_values *values, int fd,
				  const struct pd_encoder_options *o, struct pd_error *e)
{
	struct pd_encoder_options options = { .size = sizeof(options) };
	struct pd_error unused;
	struct pd_encoder *enc;

	e = pd_error_or(e, &unused);
	if (!values || (o && pd_options_take(&options, sizeof(options), o, o->size)) ||
	    options.byte_order > PD_ENCODER_BIG || options.mode > PD_ENCODER_PIPE) {
		pd_refuse(e, "no values, or an option is invalid");
		return NULL;
	}
	enc = calloc(1, sizeof(*enc));
	if (!enc || pd_out_init(&enc->out, fd)) {
		free(enc);
		*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
		return NULL;
	}
	enc->v = values;
	enc->options = options;
	enc->budget.limit = enc->options.memory_limit ? enc->options.memory_limit : PD_MEMORY_LIMIT;
	enc->scratch.budget = enc->event_types.budget = enc->outside_ids.budget = &enc->budget;
	enc->session.budget = enc->stated_names.budget = &enc->budget;
	enc->seed = pd_hash_seed(enc);
	enc->stated = (struct pd_stated){ .complete = true, .long_size = 8,
		.header_size = PD_FILE_HEADER_SIZE,
				      .damaged_magic.budget = &enc->budget,
				      .ids.budget = &enc->budget };
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		enc->features[i].bytes.budget = &enc->budget;
	return enc;
}

void pd_encoder_free(struct pd_encoder *enc)
{
	if (!enc)
		return;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		pd_buf_free(&enc->features[i].bytes);
	for (size_t i = 0; i < enc->nr_gaps; i++)
		pd_buf_free(&enc->gaps[i].bytes);
	for (size_t i = 0; i < enc->nr_others; i++) {
		pd_out_free(&enc->others[i]);
		free(enc->other_names[i]);
	}
	free(enc->others);
	free(enc->other_names);
	free(enc->gaps);
	free(enc->stated.sections);
	free(enc->events.by_name);
	pd_map_free(&enc->stated.ids);
	pd_buf_free(&enc->scratch);
	pd_buf_free(&enc->event_types);
	pd_buf_free(&enc->outside_ids);
	pd_buf_free(&enc->stated_names);
	pd_buf_free(&enc->stated.damaged_magic);
	pd_encode_compress_free(enc);
	pd_out_free(&enc->out);
	pd_session_free(&enc->session);
	free(enc);
}

int pd_encode_get_number(const struct pd_encoder *enc, pd_node object, const char *prefix,
			 const char *name, uint64_t *out,
		       struct pd_encode_error *e)
{
	pd_node n = enc->v->member(object, name);
	char path[96];

	if (!n || !pd_node_number(enc->v, n, NULL, out))
		return 0;
	snprintf(path, sizeof(path), "%s%s", prefix, name);
	return pd_encode_fail(e, PD_E_ARGUMENT, path, "expected a number");
}

bool pd_encode_text_is(const struct pd_encoder *enc, pd_node object, const char *name,
		       const char *text)
{
	pd_node n = enc->v->member(object, name);
	struct pd_bytes t;

	if (!n || enc->v->type(n) != PD_NODE_TEXT)
		return false;
	t = enc->v->text(n);
	return t.size == strlen(text) && memcmp(t.data, text, t.size) == 0;
}

bool pd_encode_copy_text(const struct pd_encoder *enc, pd_node n, char *buf, size_t size)
{
	struct pd_bytes t;

	if (!n || enc->v->type(n) != PD_NODE_TEXT)
		return false;
	t = enc->v->text(n);
	snprintf(buf, size, "%.*s", (int)(t.size < size ? t.size : size - 1), (const char *)t.data);
	return true;
}

int pd_encode_start(struct pd_encoder *enc, struct pd_encode_error *e)
{
	const enum pd_byte_order order = enc->options.byte_order == PD_ENCODER_BIG ? PD_BIG_ENDIAN :
		enc->options.byte_order == PD_ENCODER_LITTLE ? PD_LITTLE_ENDIAN : enc->stated.order;
	const bool big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (enc->ended)
		return pd_encode_fail(e, PD_E_ARGUMENT, "",
				      "the encoder has finished and can only be freed");
	if (enc->started)
		return 0;
	enc->started = true;
	enc->swaps = order != enc->stated.order;
	enc->mode = enc->options.mode == PD_ENCODER_FILE ? PD_MODE_FILE :
		    enc->options.mode == PD_ENCODER_PIPE ? PD_MODE_PIPE : enc->stated.mode;
	enc->converts = enc->mode != enc->stated.mode || enc->options.compress;
	if (pd_session_init(&enc->session, &enc->budget,
			    (order == PD_BIG_ENDIAN) != big_host ? PD_SWAP_YES : PD_SWAP_NO))
		return pd_encode_no_memory(e);
	enc->session.is_pipe = enc->stated.mode == PD_MODE_PIPE;
	return 0;
}

struct pd_out *pd_encode_open_data_n(struct pd_encoder *enc, pd_node n, const char *path,
				     struct pd_encode_error *e)
{
	char name[64], *kept;
	int fd;

	if (!pd_encode_copy_text(enc, n, name, sizeof(name)) || strncmp(name, "data.", 5) != 0 ||
	    strspn(name + 5, "0123456789") != strlen(name + 5) || !name[5]) {
		pd_encode_fail(e, PD_E_ARGUMENT, path, "expected \"data.N\"");
		return NULL;
	}
	for (size_t i = 0; i < enc->nr_others; i++)
		if (strcmp(enc->other_names[i], name) == 0)
			return &enc->others[i];
	if (!enc->others) {
		enc->others = calloc(PD_ENCODE_MAX_FILES, sizeof(*enc->others));
		enc->other_names = calloc(PD_ENCODE_MAX_FILES, sizeof(*enc->other_names));
	}
	fd = enc->options.open_file && enc->nr_others < PD_ENCODE_MAX_FILES ?
	     enc->options.open_file(enc->options.ctx, name) : -1;
	kept = strdup(name);
	if (fd < 0 || !kept || !enc->others || !enc->other_names ||
	    pd_out_init(&enc->others[enc->nr_others], fd)) {
		free(kept);
		pd_encode_fail(e, PD_E_ARGUMENT, path,
			       "it needs an output directory, or another mode");
		return NULL;
	}
	enc->other_names[enc->nr_others] = kept;
	return &enc->others[enc->nr_others++];
}

/* Returns the output of a record: the file itself, or a data.N of its directory. */
static struct pd_out *record_output(struct pd_encoder *enc, pd_node record,
				    struct pd_encode_error *e)
{
	pd_node n = enc->v->member(record, "file");

	return n && enc->mode == PD_MODE_DIRECTORY ? pd_encode_open_data_n(enc, n, "file", e) :
		&enc->out;
}

int pd_encode_attr(struct pd_encoder *enc, pd_node attr, struct pd_encode_error *e)
{
	static const char *const also[] = { "kind", "index", "name", "ids", "restored", "trailing",
		NULL };
	struct pd_pack how = { .values = enc->v, .size = PD_SIZE_OPEN, .also = also };
	struct pd_pack_error p;
	struct pd_attr *a;
	char name[256];

	if (pd_encode_start(enc, e))
		return -1;
	how.swap = enc->session.swap;
	if (enc->stated.mode == PD_MODE_PIPE)	/* HEADER_ATTR records contain the same */
		return enc->has_records ? pd_encode_compare_attr(enc, attr, &how, e) : 0;
	if (enc->stated.attr_size > PD_SECTION_SIZE && enc->stated.attr_size <= UINT16_MAX)
		how.size = (size_t)enc->stated.attr_size - PD_SECTION_SIZE;
	enc->scratch.size = 0;
	if (pd_pack(enc->session.file_attr_plan, attr, &how, &enc->scratch, &p))
		return pd_encode_fail_pack(e, &p, "");
	a = pd_session_add_attr(&enc->session, pd_buf_bytes(&enc->scratch));
	if (!a)
		return pd_encode_no_memory(e);
	if (pd_encode_ids(enc, enc->v->member(attr, "ids"), a, e))
		return -1;
	if (enc->v->member(attr, "name") &&
	    enc->v->type(enc->v->member(attr, "name")) != PD_NODE_TEXT)
		return pd_encode_fail(e, PD_E_ARGUMENT, "name", "expected a string");
	if (pd_encode_copy_text(enc, enc->v->member(attr, "name"), name, sizeof(name)))
		pd_session_rename(&enc->session, a,
				  (struct pd_bytes){ (const uint8_t *)name, strlen(name) },
				  PD_NAME_STATED);
	return pd_encode_note_name(enc, attr, a, e);
}

static int encode_feature(struct pd_encoder *enc, const char *name, pd_node features,
			  struct pd_encode_error *e)
{
	const int id = pd_feature_of_name(name);
	struct pd_pack_error p;

	if (id < 0)
		return pd_encode_fail(e, PD_E_ARGUMENT, name, "no feature has this name");
	if (enc->features[id].given)
		return 0;
	if (pd_compose_feature(&enc->session, enc->v, name, features, enc->swaps ?
			       PD_PREFER_DECODED : PD_PREFER_RAW, &enc->features[id].bytes, &p) < 0)
		return pd_encode_fail_pack(e, &p, "");
	enc->features[id].lost_raw = enc->swaps &&
		pd_feature_loses_raw(&enc->session, enc->v, (uint32_t)id, features);
	enc->features[id].given = true;
	pd_session_update_feature(&enc->session, (uint32_t)id,
				  pd_buf_bytes(&enc->features[id].bytes), 0);
	return 0;
}

int pd_encode_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e)
{
	const char *name;
	pd_node value;

	if (pd_encode_start(enc, e))
		return -1;
	if (enc->stated.mode == PD_MODE_PIPE)	/* HEADER_FEATURE records contain the same */
		return enc->has_records ? pd_encode_compare_features(enc, features, e) : 0;
	/* others are read by it, and its name may come late in the alphabet */
	if (enc->v->member(features, "NRCPUS") && encode_feature(enc, "NRCPUS", features, e))
		return -1;
	for (size_t i = 0; enc->v->member_at(features, i, &name, &value); i++)
		if (encode_feature(enc, name, features, e))
			return -1;
	return 0;
}

static int begin_output(struct pd_encoder *enc, struct pd_encode_error *e)
{
	if (enc->begun)
		return 0;
	if (pd_encode_start(enc, e))
		return -1;
	enc->begun = true;
	return enc->mode == PD_MODE_PIPE ? pd_encode_begin_pipe(enc, e) :
		pd_encode_begin_file(enc, e);
}

static int begin_before_record(struct pd_encoder *enc, const struct pd_out *out,
			       struct pd_encode_error *e)
{
	if (begin_output(enc, e))
		return -1;
	return enc->offset_invalid && out == &enc->out ?
		pd_encode_fail(e, PD_E_SIZE, "file.data_offset", "exceeds the size of any file") :
			0;
}

/* Most records have the type of the one before. */
static const struct pd_record_desc *find_record_desc(struct pd_encoder *enc, const char *name)
{
	const struct pd_record_desc *d = enc->last_desc;

	if (d && strcmp(d->name, name) == 0)
		return d;
	for (size_t i = 0; (d = pd_record_desc_at(i)); i++)
		if (strcmp(d->name, name) == 0)
			return enc->last_desc = d;
	return NULL;
}

/* Returns the bits that pdecode shows as names: those of flags that are set completely. */
static uint64_t named_bits(const struct pd_name *names, uint64_t misc)
{
	uint64_t bits = 0;

	for (; names && names->name; names++)
		if ((misc & names->value) == names->value)
			bits |= names->value;
	return bits;
}

/* Sets *mode to the number of `cpumode`, if given. Returns 0, or -1 and *e. */
static int read_cpumode(const struct pd_encoder *enc, pd_node cpumode, uint64_t *mode,
			struct pd_encode_error *e)
{
	if (cpumode &&
	    (pd_node_number(enc->v, cpumode, pd_names_cpumode, mode) || *mode > PD_MISC_CPUMODE))
		return pd_encode_fail(e, PD_E_ARGUMENT, "cpumode",
				      "expected the name of a mode: \"USER\", \"KERNEL\", ...");
	return 0;
}

/* Sets *bits to those of `misc_flags`, if given. Returns 0, or -1 and *e. */
static int read_misc_flags(const struct pd_encoder *enc, pd_node flags,
			   const struct pd_record_desc *d, uint64_t *bits,
			   struct pd_encode_error *e)
{
	if (flags && enc->v->type(flags) != PD_NODE_ARRAY)
		return pd_encode_fail(e, PD_E_ARGUMENT, "misc_flags", "expected an array");
	for (size_t i = 0; flags && i < enc->v->length(flags); i++) {
		uint64_t bit = 0;
		pd_node n = enc->v->item(flags, i, &bit);

		if (n && pd_node_number(enc->v, n, d ? d->misc : NULL, &bit))
			return pd_encode_fail(e, PD_E_ARGUMENT, "misc_flags",
					      "expected names of flags of this record type");
		*bits |= bit;
	}
	return 0;
}

/* Composes misc from cpumode and misc_flags, or takes its number, which they must not
 * contradict. */
static int encode_misc(const struct pd_encoder *enc, pd_node record, const struct pd_record_desc *d,
		       uint16_t *out, struct pd_encode_error *e)
{
	static const char contradiction[] = "contradicts misc: change both, or omit misc";
	pd_node cpumode = enc->v->member(record, "cpumode");
	pd_node flags = enc->v->member(record, "misc_flags");
	uint64_t misc = 0, mode = 0, bits = 0;

	if (read_cpumode(enc, cpumode, &mode, e) || read_misc_flags(enc, flags, d, &bits, e))
		return -1;
	*out = (uint16_t)(mode | bits);
	if (!enc->v->member(record, "misc"))
		return 0;
	if (pd_encode_get_number(enc, record, "", "misc", &misc, e))
		return -1;
	if (misc > UINT16_MAX)
		return pd_encode_fail(e, PD_E_ARGUMENT, "misc", "expected at most 16 bits");
	*out = (uint16_t)misc;
	if (cpumode && (misc & PD_MISC_CPUMODE) != mode)
		return pd_encode_fail(e, PD_E_ARGUMENT, "cpumode", contradiction);
	if (flags && ((bits & ~misc) || (named_bits(d ? d->misc : NULL, misc) & ~bits)))
		return pd_encode_fail(e, PD_E_ARGUMENT, "misc_flags", contradiction);
	return 0;
}

/* Finds the event of a record: by attr_index, by id, by name, or the first one. That of an id in
 * sample_id must have a sample_id. */
static int find_record_attr(struct pd_encoder *enc, pd_node record, const struct pd_attr **out,
			    struct pd_encode_error *e)
{
	static const char *const keys[] = { "identifier", "id" };
	const struct pd_session *s = &enc->session;
	pd_node sample_id = enc->v->member(record, "sample_id"), event = enc->v->member(record,
											"event");
	pd_node from = sample_id && enc->v->type(sample_id) == PD_NODE_OBJECT ? sample_id : record;
	uint64_t index = 0, id;
	char name[256];

	*out = s->nr_attrs ? s->attrs[0] : NULL;
	if (enc->v->member(record, "attr_index")) {
		if (pd_encode_get_number(enc, record, "", "attr_index", &index, e))
			return -1;
		if (index >= s->nr_attrs)
			return pd_encode_fail(e, PD_E_ARGUMENT, "attr_index",
					      "attrs has no such event");
		*out = s->attrs[index];
		return 0;
	}
	for (size_t i = 0; i < 2 && s->nr_attrs > 1; i++) {
		pd_node n = enc->v->member(from, keys[i]);
		const struct pd_attr *a = n && !pd_node_number(enc->v, n, NULL, &id) ?
			pd_session_by_id(s, id) : NULL;

		if (a && (from == record || a->trailer_size)) {
			*out = a;
			return 0;
		}
	}
	if (s->nr_attrs > 1 && pd_encode_copy_text(enc, event, name, sizeof(name)))
		return pd_encode_find_event(enc, name, out, e);
	return 0;
}

static int read_record_head(struct pd_encoder *enc, pd_node record, struct pd_compose_record *r,
			    const struct pd_record_desc **desc, struct pd_encode_error *e)
{
	uint64_t type_id = 0, size = PD_SIZE_OPEN, cut = PD_SIZE_OPEN;
	const char *first;
	pd_node value;
	uint16_t misc;
	char type[64];

	if (!pd_encode_copy_text(enc, enc->v->member(record, "type"), type, sizeof(type)))
		return pd_encode_fail(e, PD_E_ARGUMENT, "type",
				      "expected the name of a record type");
	*desc = find_record_desc(enc, type);
	if (!*desc && strcmp(type, "UNKNOWN") != 0)
		return pd_encode_fail(e, PD_E_ARGUMENT, "type", "no record type has this name");
	if (pd_encode_get_number(enc, record, "", "type_id", &type_id, e) ||
	    pd_encode_get_number(enc, record, "", "size", &size, e) ||
	    pd_encode_get_number(enc, record, "", "cut", &cut, e) ||
		    encode_misc(enc, record, *desc, &misc, e))
		return -1;
	*r = (struct pd_compose_record){
		.type = *desc ? (*desc)->type : (uint32_t)type_id, .misc = misc,
		.size = (size_t)size, .cut = (size_t)cut,
		.sample_id = enc->v->member(record, "sample_id"),
		.prefer = enc->swaps ? PD_PREFER_DECODED : PD_PREFER_RAW,
		.opaque = enc->v->member(record, "body") != NULL,
	};
	if (type_id > UINT32_MAX)
		return pd_encode_fail(e, PD_E_ARGUMENT, "type_id", "expected at most 32 bits");
	if (size != PD_SIZE_OPEN && (size > UINT16_MAX || size < PD_RECORD_HEADER_SIZE) &&
	    !(*desc && (*desc)->compressed))
		return pd_encode_fail(e, PD_E_SIZE, "size", "expected 8 to 65535 bytes");
	if ((r->type < PD_RECORD_USER_START || r->sample_id) &&
	    find_record_attr(enc, record, &r->attr, e))
		return -1;
	if (r->sample_id && enc->v->type(r->sample_id) != PD_NODE_OBJECT)
		return pd_encode_fail(e, PD_E_ARGUMENT, "sample_id", "expected an object");
	if (r->sample_id && enc->v->member_at(r->sample_id, 0, &first, &value) &&
	    (!r->attr || !r->attr->trailer_size))
		return pd_encode_fail(e, PD_E_ARGUMENT, "sample_id",
				      "the record's event has no sample_id_all: omit it");
	if ((r->type == PD_RECORD_READ || r->type == PD_RECORD_SAMPLE) && !r->attr && !r->opaque)
		return pd_encode_fail(e, PD_E_ARGUMENT, "attr_index",
				      "attrs has no event that defines its layout");
	return 0;
}

/* A record that is added by hand need not have a sample_id: perf takes its last bytes for one if
 * the event has sample_id_all. A record that states its size is complete. */
static void complete_sample_id(struct pd_encoder *enc, const struct pd_record_desc *d,
			       struct pd_compose_record *r)
{
	if (!d || d->trailer != PD_TRAILER || r->opaque)
		return;
	if (r->sample_id)
		enc->has_sample_ids = true;
	else
		r->is_synthesized = enc->has_sample_ids && r->size == PD_SIZE_OPEN &&
				    r->cut == PD_SIZE_OPEN;
}

/* Appends the payload, if the record has one. */
static int append_payload(struct pd_encoder *enc, pd_node record, const struct pd_record_desc *d,
			  const struct pd_compose_record *r, struct pd_encode_error *e)
{
	const struct pd_bytes bytes = pd_buf_bytes(&enc->scratch);
	pd_node data = d && d->payload ? enc->v->member(record, "data") : NULL;
	uint64_t payload;

	if (!d || !d->payload || r->cut != PD_SIZE_OPEN)
		return 0;
	payload = pd_session_payload(&enc->session, d, bytes);
	if (payload && !data)
		return pd_encode_fail(e, PD_E_COUNT, "data",
				      "it is missing (was it decoded with --blobs omit?)");
	if (!payload || !data)
		return 0;
	if (enc->v->type(data) == PD_NODE_TEXT ? pd_unhex(enc->v->text(data), &enc->scratch) : 1)
		return pd_encode_fail(e, PD_E_ARGUMENT, "data",
				      "expected an even number of hex digits");
	return 0;
}

/* Stores the content of a pipe's header record for the header of a file. Returns 1, 0 for other
 * records, or -1. */
static int move_to_header(struct pd_encoder *enc, uint32_t type, struct pd_bytes record,
			  struct pd_bytes payload, struct pd_encode_error *e)
{
	struct pd_bytes body = { record.data + PD_RECORD_HEADER_SIZE,
		record.size - PD_RECORD_HEADER_SIZE };
	uint64_t id;

	if (type == PD_RECORD_HEADER_TRACING_DATA) {
		enc->features[PD_FEATURE_TRACING_DATA].given = true;
		pd_buf_append(&enc->features[PD_FEATURE_TRACING_DATA].bytes, payload.data,
			      payload.size);
	} else if (type == PD_RECORD_HEADER_FEATURE && body.size > 8) {
		id = pd_load64(body.data, enc->session.swap);
		if (id < PD_FEATURE_BITS && !enc->features[id].given) {
			enc->features[id].given = true;
			pd_buf_append(&enc->features[id].bytes, body.data + 8, body.size - 8);
		}
	} else if (type == PD_RECORD_HEADER_BUILD_ID) {
		struct pd_buf *ids = &enc->features[PD_FEATURE_BUILD_ID].bytes;

		enc->features[PD_FEATURE_BUILD_ID].given = true;
		/* the section's items have no type */
		pd_buf_append(ids, (const uint8_t[4]){ 0 }, 4);
		pd_buf_append(ids, record.data + 4, record.size - 4);
	} else if (type != PD_RECORD_HEADER_ATTR && type != PD_RECORD_HEADER_FEATURE) {
		return 0;
	}
	return enc->scratch.failed ? pd_encode_no_memory(e) : 1;
}

/* Writes the scratch buffer: `size` bytes of the record, then its payload. */
static int write_record(struct pd_encoder *enc, struct pd_out *out,
			const struct pd_compose_record *r, size_t size, struct pd_encode_error *e)
{
	const struct pd_bytes record = { enc->scratch.data, size };
	const struct pd_bytes payload = { enc->scratch.data + size, enc->scratch.size - size };
	int err = 0;

	if (enc->stated.mode == PD_MODE_PIPE && r->cut == PD_SIZE_OPEN)
		pd_encode_note_section(enc, r->type, record, payload);
	/* the features of a file, but not its events, may also be in records */
	if ((enc->stated.mode == PD_MODE_PIPE || r->type == PD_RECORD_HEADER_FEATURE) &&
	    r->cut == PD_SIZE_OPEN &&
	    pd_session_update_record(&enc->session, r->type, record, payload, 0))
		return pd_encode_no_memory(e);
	if (enc->options.compress && enc->mode == PD_MODE_PIPE &&
	    r->type == PD_RECORD_HEADER_FEATURE && size >= PD_RECORD_HEADER_SIZE + 8 &&
	    pd_load64(record.data + PD_RECORD_HEADER_SIZE,
		      enc->session.swap) == PD_FEATURE_COMPRESSED)
		return 0;	/* pd_encode_compress() writes a new one */
	if (enc->stated.mode == PD_MODE_PIPE && enc->mode != PD_MODE_PIPE) {
		int taken = move_to_header(enc, r->type, record, payload, e);

		if (taken)
			return taken < 0 ? -1 : 0;
	}
	if (begin_before_record(enc, out, e))
		return -1;
	if (enc->options.compress && r->type < PD_RECORD_USER_START && r->type &&
	    r->cut == PD_SIZE_OPEN)
		return pd_encode_compress(enc, record, out, e);
	if (pd_encode_compress_flush(enc, out, e))
		return -1;
	err = pd_out_append(out, enc->scratch.data, enc->scratch.size);
	return err ? pd_encode_io(e, err) : 0;
}

/* Writes bytes that no record holds. Zeros are written only if the layout is unchanged; elsewhere
 * they would waste space. */
static int write_skipped_bytes(struct pd_encoder *enc, pd_node record, struct pd_out *out,
			       struct pd_encode_error *e)
{
	pd_node body = enc->v->member(record, "body");
	uint64_t zeros = 0;
	int err;

	if (!body || enc->v->type(body) != PD_NODE_TEXT ||
	    pd_unhex(enc->v->text(body), &enc->scratch))
		return pd_encode_fail(e, PD_E_ARGUMENT, "body",
				      "expected an even number of hex digits");
	if (pd_encode_get_number(enc, record, "", "zeros", &zeros, e) ||
	    begin_before_record(enc, out, e))
		return -1;
	if (zeros > INT64_MAX - out->offset)
		return pd_encode_fail(e, PD_E_SIZE, "zeros", "exceeds the size of any file");
	if (pd_encode_compress_flush(enc, out, e))
		return -1;
	err = pd_out_append(out, enc->scratch.data, enc->scratch.size);
	if (!err && zeros && !enc->converts && !enc->swaps)
		err = pd_out_append_zeros(out, zeros);
	return err ? pd_encode_io(e, err) : 0;
}

/* Notes whether the feature in a HEADER_FEATURE record loses raw bytes. */
static void check_lost_raw(struct pd_encoder *enc, pd_node record)
{
	pd_node feature = enc->v->member(record, "feature"), value;
	const char *name;

	if (!feature || enc->v->type(feature) != PD_NODE_OBJECT)
		return;
	for (size_t i = 0; enc->v->member_at(feature, i, &name, &value); i++) {
		const int id = pd_feature_of_name(name);

		if (id >= 0 && pd_feature_loses_raw(&enc->session, enc->v, (uint32_t)id, feature))
			enc->features[id].lost_raw = true;
	}
}

/* Composes the record in the scratch buffer. One of a pipe that does not have the fields of its
 * event's attribute may have those of the copy in EVENT_DESC, by which pdecode has read it and all
 * that follow. */
static int compose_record(struct pd_encoder *enc, pd_node record,
			  const struct pd_compose_record *r, struct pd_encode_error *e)
{
	struct pd_session *s = &enc->session;
	struct pd_pack_error own, other;

	if (!pd_compose_record(s, enc->v, r, record, &enc->scratch, &own))
		return 0;
	if (r->type >= PD_RECORD_USER_START || enc->stated.mode != PD_MODE_PIPE ||
	    !pd_session_has_copies(s))
		return pd_encode_fail_pack(e, &own, "");
	enc->scratch.size = 0;
	if (pd_session_exchange_copies(s))
		return pd_encode_no_memory(e);
	if (!pd_compose_record(s, enc->v, r, record, &enc->scratch, &other))
		return 0;
	return pd_session_exchange_copies(s) ? pd_encode_no_memory(e) :
		pd_encode_fail_pack(e, &own, "");
}

int pd_encode_record(struct pd_encoder *enc, pd_node record, struct pd_encode_error *e)
{
	const bool inner = enc->v->member(record, "inner_offset") != NULL;
	const struct pd_record_desc *d = NULL;
	struct pd_compose_record r = { 0 };
	struct pd_out *out;
	size_t size;

	if (pd_encode_start(enc, e))
		return -1;
	enc->has_records = true;
	if (inner && enc->skip_inner)
		return 0;
	out = record_output(enc, record, e);
	if (!out)
		return -1;
	enc->scratch.size = 0;
	if (pd_encode_text_is(enc, record, "type", "SKIPPED")) {
		enc->left_out += inner;
		return inner ? 0 : write_skipped_bytes(enc, record, out, e);
	}
	if (read_record_head(enc, record, &r, &d, e))
		return -1;
	complete_sample_id(enc, d, &r);
	if (inner && r.cut != PD_SIZE_OPEN) {	/* a truncated record has no end to frame by */
		enc->left_out++;
		return 0;
	}
	if (d && d->compressed) {
		enc->skip_inner = (enc->v->member(record, "data") ||
				   enc->v->member(record, "trailing")) &&
				  !enc->converts && !enc->swaps;
		if (!enc->skip_inner) {
			/* the inner records are written instead */
			enc->converts = enc->uncompressed = true;
			return 0;
		}
	}
	if (compose_record(enc, record, &r, e))
		return -1;
	if (enc->swaps && r.type == PD_RECORD_HEADER_FEATURE)
		check_lost_raw(enc, record);
	size = enc->scratch.size;
	if (append_payload(enc, record, d, &r, e))
		return -1;
	return write_record(enc, out, &r, size, e);
}

uint64_t pd_encoder_left_out(const struct pd_encoder *enc)
{
	return enc ? enc->left_out : 0;
}

const char *pd_encoder_feature_lost_raw(const struct pd_encoder *enc, size_t i)
{
	return enc ? pd_feature_lost_raw(enc->features, i) : NULL;
}

uint64_t pd_encoder_gaps_left_out(const struct pd_encoder *enc)
{
	uint64_t sum = 0;

	for (size_t i = 0; enc && !enc->wrote_gaps && i < enc->nr_gaps; i++)
		sum += enc->gaps[i].bytes.size;
	return sum;
}

const char *pd_encoder_feature_left_out(const struct pd_encoder *enc, size_t i)
{
	return enc ? pd_feature_left_out(enc->features, i) : NULL;
}

int pd_encode_finish(struct pd_encoder *enc, struct pd_encode_error *e)
{
	if (pd_encode_start(enc, e) || begin_output(enc, e) ||
	    pd_encode_compress_flush(enc, NULL, e))
		return -1;
	enc->ended = true;
	pd_encode_compare_rest(enc);
	for (size_t i = 0; i < enc->nr_others; i++)
		if (pd_out_flush(&enc->others[i]))
			return pd_encode_io(e, enc->others[i].failed);
	if (pd_out_flush(&enc->out))
		return pd_encode_io(e, enc->out.failed);
	return enc->mode == PD_MODE_PIPE ? 0 : pd_encode_compress_finish(enc, e) ||
		pd_encode_finish_file(enc, e) ? -1 : 0;
}
