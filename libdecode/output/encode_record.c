/* encode_record.c - encode records, one by one. */
#include "output/encode.h"

#include <stdio.h>
#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"
#include "session/sample_id_flag.h"

/* Returns the output of a record: the file itself, or a data.N of its directory. */
static struct pd_out *record_output(struct pd_encoder *enc, pd_node record,
				    struct pd_encode_error *e)
{
	pd_node n = enc->v->member(record, "file");

	return n && enc->mode == PD_MODE_DIRECTORY ? pd_encode_open_data_n(enc, n, "file", e) :
		&enc->out;
}

static int begin_before_record(struct pd_encoder *enc, const struct pd_out *out,
			       struct pd_encode_error *e)
{
	if (pd_encode_begin(enc, e))
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

/* Fails because the record's event is not known. Filters for records leave out where the events
 * are. */
static int fail_without_event(const struct pd_encoder *enc, const char *text,
			      struct pd_encode_error *e)
{
	if (!enc->session.nr_attrs)
		text = enc->stated.mode == PD_MODE_PIPE ?
			"no event is defined before it: keep the records of type HEADER_ATTR" :
			"no event is defined before it: keep file and attrs (in JSON Lines, kind "
			"file and attr; of a pipe, kind file and HEADER_ATTR records)";
	return pd_encode_fail(e, PD_E_ARGUMENT, "attr_index", text);
}

/* Checks that `event`, which is derived from attr_index, is not the name of another one: an edit
 * of it alone would be lost. Any other name may be one that the event had then; in a pipe, that of
 * another may be, too. */
static int check_event(struct pd_encoder *enc, pd_node event, const struct pd_attr *a,
		       struct pd_encode_error *e)
{
	const struct pd_attr *named = NULL;
	char name[256];

	if (!event || !a->name || enc->stated.mode == PD_MODE_PIPE ||
	    !pd_encode_copy_text(enc, event, name, sizeof(name)) || strcmp(name, a->name) == 0)
		return 0;
	if (pd_encode_look_up_event(enc, name, &named, e) && e->code != PD_E_ARGUMENT)
		return -1;	/* without memory; names that change too often are not checked */
	return named ? pd_encode_fail(e, PD_E_ARGUMENT, "event",
				      "contradicts attr_index: change both, and the id") :
		       0;
}

/* Finds the event of a record: by attr_index, by id, by name, or the first one. An event that is
 * found by the id in sample_id must have a sample_id. */
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
			return fail_without_event(enc, "attrs has no such event", e);
		*out = s->attrs[index];
		return check_event(enc, event, *out, e);
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

/* Sets what the record's header states: type, misc, size and cut. Returns 0, or -1 and *e. */
static int read_header_numbers(struct pd_encoder *enc, pd_node record,
			       const struct pd_record_desc *d, struct pd_compose_record *r,
			       struct pd_encode_error *e)
{
	uint64_t type_id = d ? d->type : 0, size = PD_SIZE_OPEN, cut = PD_SIZE_OPEN;

	if (pd_encode_get_number(enc, record, "", "type_id", &type_id, e) ||
	    pd_encode_get_number(enc, record, "", "size", &size, e) ||
	    pd_encode_get_number(enc, record, "", "cut", &cut, e) ||
	    encode_misc(enc, record, d, &r->misc, e))
		return -1;
	if (type_id > UINT32_MAX)
		return pd_encode_fail(e, PD_E_ARGUMENT, "type_id", "expected at most 32 bits");
	if (size != PD_SIZE_OPEN && (size > UINT16_MAX || size < PD_RECORD_HEADER_SIZE) &&
	    !(d && d->compressed))
		return pd_encode_fail(e, PD_E_SIZE, "size", "expected 8 to 65535 bytes");
	r->type = d ? d->type : (uint32_t)type_id;
	r->wrong_type = r->type ^ (uint32_t)type_id;
	r->size = (size_t)size;
	r->cut = (size_t)cut;
	return 0;
}

/* Takes the copies in EVENT_DESC for the events if only that of the record's has sample_id_all, as
 * the reader of a pipe does. Returns 0, or -1 and *e. */
static int allow_sample_id(struct pd_encoder *enc, const struct pd_attr *a,
			   struct pd_encode_error *e)
{
	struct pd_session *s = &enc->session;

	if (enc->stated.mode == PD_MODE_PIPE && !a->trailer_size && a->copy.size &&
	    pd_session_sample_id_flag(s, a->copy) == PD_SAMPLE_ID_PRESENT &&
	    pd_session_exchange_copies(s))
		return pd_encode_no_memory(e);
	return 0;
}

/* Sets the event, whose attribute has to allow the record's sample_id, and without which READ and
 * SAMPLE have no layout. Returns 0, or -1 and *e. */
static int read_record_event(struct pd_encoder *enc, pd_node record, struct pd_compose_record *r,
			     struct pd_encode_error *e)
{
	const char *first;
	pd_node value;

	if ((r->type < PD_RECORD_USER_START || r->sample_id) &&
	    find_record_attr(enc, record, &r->attr, e))
		return -1;
	if (r->sample_id && enc->v->type(r->sample_id) != PD_NODE_OBJECT)
		return pd_encode_fail(e, PD_E_ARGUMENT, "sample_id", "expected an object");
	if (r->sample_id && r->attr && allow_sample_id(enc, r->attr, e))
		return -1;
	if (r->sample_id && enc->v->member_at(r->sample_id, 0, &first, &value) &&
	    (!r->attr || !r->attr->trailer_size))
		return pd_encode_fail(e, PD_E_ARGUMENT, "sample_id",
				      "the record's event has no sample_id_all: omit it");
	if ((r->type == PD_RECORD_READ || r->type == PD_RECORD_SAMPLE) && !r->attr && !r->opaque)
		return fail_without_event(enc, "attrs has no event that defines its layout", e);
	return 0;
}

/* Sets *r, and *desc to the description of the type, NULL for UNKNOWN. Returns 0, or -1 and *e. */
static int read_record_head(struct pd_encoder *enc, pd_node record, struct pd_compose_record *r,
			    const struct pd_record_desc **desc, struct pd_encode_error *e)
{
	char type[64];

	if (!pd_encode_copy_text(enc, enc->v->member(record, "type"), type, sizeof(type)))
		return pd_encode_fail(e, PD_E_ARGUMENT, "type",
				      "expected the name of a record type");
	*desc = find_record_desc(enc, type);
	if (!*desc && strcmp(type, "UNKNOWN") != 0)
		return pd_encode_fail(e, PD_E_ARGUMENT, "type", "no record type has this name");
	*r = (struct pd_compose_record){
		.sample_id = enc->v->member(record, "sample_id"),
		.prefer = enc->swaps ? PD_PREFER_DECODED : PD_PREFER_RAW,
		.opaque = enc->v->member(record, "body") != NULL,
	};
	if (read_header_numbers(enc, record, *desc, r, e))
		return -1;
	return read_record_event(enc, record, r, e);
}

/* Returns whether a record without sample_id gets one of zeros. One that is added by hand need not
 * have it: perf takes its last bytes for one if the event has sample_id_all. A record that states
 * its size is complete. */
static bool lacks_sample_id(const struct pd_record_desc *d, const struct pd_compose_record *r)
{
	return d && d->trailer == PD_TRAILER && !r->opaque && !r->sample_id &&
	       r->size == PD_SIZE_OPEN && r->cut == PD_SIZE_OPEN;
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

/* Updates the session by a record, as a reader of the recording does. A truncated one is not read.
 * Returns 0, or -1 and *e. */
static int update_encoder_session(struct pd_encoder *enc, const struct pd_compose_record *r,
				  struct pd_bytes record, struct pd_bytes payload,
				  struct pd_encode_error *e)
{
	const bool is_pipe = enc->stated.mode == PD_MODE_PIPE;

	if (r->cut != PD_SIZE_OPEN)
		return 0;
	if (is_pipe)
		pd_encode_note_section(enc, r->type, record, payload);
	/* the features of a file, but not its events, may also be in records */
	if ((is_pipe || r->type == PD_RECORD_HEADER_FEATURE) &&
	    pd_session_update_record(&enc->session, r->type, record, payload, 0))
		return pd_encode_no_memory(e);
	return 0;
}

/* Returns whether pd_encode_compress() writes another record in place of this feature. */
static bool is_replaced_feature(const struct pd_encoder *enc, uint32_t type, struct pd_bytes record)
{
	return enc->options.compress && enc->mode == PD_MODE_PIPE &&
	       type == PD_RECORD_HEADER_FEATURE && record.size >= PD_RECORD_HEADER_SIZE + 8 &&
	       pd_load64(record.data + PD_RECORD_HEADER_SIZE, enc->session.swap) ==
		       PD_FEATURE_COMPRESSED;
}

/* Writes the scratch buffer: `size` bytes of the record, then its payload. */
static int write_record(struct pd_encoder *enc, struct pd_out *out,
			const struct pd_compose_record *r, size_t size, struct pd_encode_error *e)
{
	const struct pd_bytes record = { enc->scratch.data, size };
	const struct pd_bytes payload = { enc->scratch.data + size, enc->scratch.size - size };
	int err = 0;

	if (update_encoder_session(enc, r, record, payload, e))
		return -1;
	if (is_replaced_feature(enc, r->type, record))
		return 0;
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

/* Chooses whether a COMPRESSED record is written, or the records in it instead, which follow it in
 * the JSON. */
static bool keeps_compressed(struct pd_encoder *enc, pd_node record)
{
	enc->skip_inner = (enc->v->member(record, "data") || enc->v->member(record, "trailing")) &&
			  !enc->converts && !enc->swaps;
	if (!enc->skip_inner)
		enc->converts = enc->uncompressed = true;
	return enc->skip_inner;
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
	r.is_synthesized = lacks_sample_id(d, &r);
	if (inner && r.cut != PD_SIZE_OPEN) {	/* a truncated record has no end to frame by */
		enc->left_out++;
		return 0;
	}
	if (d && d->compressed && !keeps_compressed(enc, record))
		return 0;
	if (compose_record(enc, record, &r, e) ||
	    (r.type == PD_RECORD_SAMPLE && r.attr &&
	     pd_encode_check_tracepoint(enc, record, r.attr, e)))
		return -1;
	if (enc->swaps && r.type == PD_RECORD_HEADER_FEATURE)
		check_lost_raw(enc, record);
	size = enc->scratch.size;
	if (append_payload(enc, record, d, &r, e))
		return -1;
	return write_record(enc, out, &r, size, e);
}
