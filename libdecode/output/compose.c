/* compose.c - encode the parts of a file from values. */
#include "output/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/names_tables.h"
#include "pack/pack_number.h"

#define HEADER PD_RECORD_HEADER_SIZE

static int pack_values(struct pd_session *s, const struct pd_field *fields,
		       const struct pd_value *values, size_t n, struct pd_buf *out)
{
	const struct pd_facts none = { .cpus_available = 0 };
	const struct pd_value object = PD_OBJECT(NULL, values, n);
	const struct pd_pack how = { .values = &pd_value_values, .swap = s->swap,
		.size = PD_SIZE_OPEN };
	struct pd_plan *plan = pd_plan_compile(fields, &none, s->budget);
	struct pd_pack_error ignored;
	int err = plan ? pd_pack(plan, &object, &how, out, &ignored) : -1;

	out->failed |= !plan;
	pd_plan_free(plan);
	return err;
}

int pd_compose_section(struct pd_session *s, uint64_t offset, uint64_t size, struct pd_buf *out)
{
	const struct pd_value values[] = { PD_NUMBER("offset", offset), PD_NUMBER("size", size) };

	return pack_values(s, pd_section_fields, values, 2, out);
}

int pd_compose_own_table(struct pd_session *s, const struct pd_section *features, size_t n,
			 struct pd_buf *out)
{
	const struct pd_value head[] = {
		PD_BYTES("magic", PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)),
		PD_NUMBER("nr", n) };
	int err = pack_values(s, pd_own_table_fields, head, 2, out);

	for (size_t i = 0; i < n && !err; i++) {
		const struct pd_value entry[] = { PD_NUMBER("id", features[i].feature),
			PD_NUMBER("offset", features[i].offset),
			PD_NUMBER("size", features[i].size) };

		err = pack_values(s, pd_own_entry_fields, entry, 3, out);
	}
	return err;
}

int pd_compose_feature_tables(struct pd_session *s, uint64_t at, struct pd_section *features,
			      size_t n, struct pd_header_values *h, struct pd_buf *out)
{
	size_t own = n;

	while (own && pd_feature_is_own(features[own - 1].feature))
		own--;
	at += own * PD_SECTION_SIZE;
	if (own < n)
		at += PD_OWN_TABLE_HEAD + (n - own) * PD_OWN_ENTRY_SIZE;
	for (size_t i = 0; i < n; i++) {
		features[i].offset = at;
		at += features[i].size;
	}
	for (size_t i = 0; i < own; i++) {
		h->features[features[i].feature] = true;
		if (pd_compose_section(s, features[i].offset, features[i].size, out))
			return -1;
	}
	return own < n ? pd_compose_own_table(s, features + own, n - own, out) : 0;
}

static const char *magic_bytes(const struct pd_session *s)
{
	return pd_is_big(s->swap) ? "2ELIFREP" : "PERFILE2";
}

int pd_compose_pipe_header(struct pd_session *s, struct pd_buf *out)
{
	uint8_t size[8];

	pd_buf_append(out, magic_bytes(s), 8);
	pd_store(size, PD_MAGIC_SIZE, sizeof(size), s->swap);
	pd_buf_append(out, size, sizeof(size));
	return out->failed ? -1 : 0;
}

/* Where HOSTNAME of 32-bit words stands in 64-bit words. Readers tell the size of a word from these
 * two bits (container/header.c). */
enum { HOSTNAME_OF_HALVES = PD_FEATURE_HOSTNAME + 32 };

bool pd_feature_words_misread(const struct pd_session *s, const struct pd_header_values *h)
{
	return pd_is_big(s->swap) && h->features[HOSTNAME_OF_HALVES] &&
	       !h->features[PD_FEATURE_HOSTNAME];
}

/* Fills the bitmap as 64-bit words, so that packing gives the bytes of the recording machine's
 * longs: of 64 bits where a reader would not recognize 32. */
static void fill_feature_words(const struct pd_session *s, const struct pd_header_values *h,
			       uint64_t words[4])
{
	const bool halves = h->long_size == 4 && pd_is_big(s->swap) &&
			    h->features[PD_FEATURE_HOSTNAME] && !h->features[HOSTNAME_OF_HALVES];

	memset(words, 0, 4 * sizeof(*words));
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		if (h->features[i])
			words[i / 64] |= 1ull << (halves ? (i % 64 + 32) % 64 : i % 64);
}

int pd_compose_header(struct pd_session *s, const struct pd_header_values *h, struct pd_buf *out)
{
	const struct pd_value attrs[] = { PD_NUMBER("offset", h->attrs.offset),
		PD_NUMBER("size", h->attrs.size) };
	const struct pd_value data[] = { PD_NUMBER("offset", h->data.offset),
		PD_NUMBER("size", h->data.size) };
	const struct pd_value types[] = { PD_NUMBER("offset", h->event_types.offset),
					  PD_NUMBER("size", h->event_types.size) };
	uint64_t words[4];
	const struct pd_value values[] = {
		PD_BYTES("magic", h->v1 ? "PERFFILE" : magic_bytes(s), 8),
		PD_NUMBER("size", h->size),
		PD_NUMBER("attr_size", h->attr_size),
		PD_OBJECT("attrs", attrs, 2), PD_OBJECT("data", data, 2), PD_OBJECT("event_types",
										    types, 2),
		PD_NUMBERS("adds_features", words, 4),
	};

	fill_feature_words(s, h, words);
	return pack_values(s, pd_file_header_fields, values, h->size < PD_FILE_HEADER_SIZE ? 6 : 7,
			   out);
}

static int fail_at(struct pd_pack_error *e, enum pd_code code, const char *path, const char *text)
{
	*e = (struct pd_pack_error){ .code = code };
	snprintf(e->path, sizeof(e->path), "%s", path);
	snprintf(e->text, sizeof(e->text), "%s", text);
	return -1;
}

struct nested {
	struct pd_session *s;
	const struct pd_values *v;
	struct pd_buf *out;
	enum pd_prefer prefer;
};

/* Packs the feature inside a HEADER_FEATURE record. */
static int pack_nested_feature(void *ctx, uint64_t id, pd_node value, struct pd_packer *p)
{
	struct nested *n = ctx;
	struct pd_pack_error e;
	const char *name;
	pd_node member;

	(void)id;
	for (size_t i = 0; n->v->member_at(value, i, &name, &member); i++) {
		if (pd_feature_of_name(name) < 0 && strncmp(name, "FEATURE_", 8) != 0)
			continue;
		if (pd_compose_feature(n->s, n->v, name, value, n->prefer, n->out, &e) < 0)
			return pd_packer_fail(p, e.code, e.text);
		break;
	}
	return 0;
}

static const struct pd_plan *record_plan(struct pd_session *s, const struct pd_compose_record *r)
{
	const struct pd_record_desc *d = pd_record_desc(r->type);

	if (!d || r->opaque)
		return NULL;
	if (r->type == PD_RECORD_SAMPLE)
		return r->attr ? r->attr->sample : NULL;
	if (r->type == PD_RECORD_READ)
		return r->attr ? r->attr->read : NULL;
	return pd_session_body_plan(s, d);
}

/* Returns the misc whose layout the fields have: the header's, without a stray bit. */
static uint16_t layout_misc(const struct pd_values *v, const struct pd_compose_record *r,
			    pd_node fields)
{
	const struct pd_record_desc *d = pd_record_desc(r->type);
	const struct pd_stray_misc *s = d ? d->stray : NULL;

	if (s && r->misc & s->bit && v->member(fields, s->field))
		return (uint16_t)(r->misc & ~s->bit);
	return r->misc;
}

static int append_hex(const struct pd_values *v, pd_node n, const char *path, struct pd_buf *out,
		      struct pd_pack_error *e)
{
	if (v->type(n) == PD_NODE_BYTES)
		pd_buf_append(out, v->text(n).data, v->text(n).size);
	else if (v->type(n) != PD_NODE_TEXT || pd_unhex(v->text(n), out))
		return fail_at(e, PD_E_ARGUMENT, path, "expected an even number of hex digits");
	return 0;
}

static int pack_opaque(const struct pd_values *v, pd_node fields, struct pd_buf *out,
		       struct pd_pack_error *e)
{
	pd_node body = v->member(fields, "body");

	if (!body)
		return fail_at(e, PD_E_ARGUMENT, "body",
			       "expected the bytes of a record with unknown layout");
	if (v->type(body) == PD_NODE_BYTES)
		pd_buf_append(out, v->text(body).data, v->text(body).size);
	else if (v->type(body) != PD_NODE_TEXT || pd_unhex(v->text(body), out))
		return fail_at(e, PD_E_ARGUMENT, "body", "expected an even number of hex digits");
	return 0;
}

static int pack_trailer(const struct pd_compose_record *r, struct pd_pack how, struct pd_buf *out,
			struct pd_pack_error *e)
{
	static const char *const nothing[] = { NULL };

	if (!r->sample_id) {
		uint8_t *zeros = pd_buf_reserve(out, r->attr->trailer_size);

		if (zeros) {
			memset(zeros, 0, r->attr->trailer_size);
			out->size += r->attr->trailer_size;
		}
		return 0;
	}
	how.size = r->attr->trailer_size;
	how.feature = NULL;
	how.also = nothing;
	if (pd_pack(r->attr->trailer, r->sample_id, &how, out, e)) {
		memmove(e->path + 10, e->path, sizeof(e->path) - 11);
		memcpy(e->path, "sample_id.", 10);
		return -1;
	}
	return 0;
}

/* Returns the size of `trailing` if it follows sample_id, in a record that the kernel wrote too
 * large. In all others it precedes sample_id. */
static size_t size_after_trailer(const struct pd_session *s, const struct pd_compose_record *r,
				 pd_node fields, const struct pd_pack *how)
{
	const struct pd_record_desc *d = pd_record_desc(r->type);
	const pd_node trailing = how->values->member(fields, "trailing");
	const size_t size = trailing ? pd_pack_blob_size(how->values, trailing) : 0;
	struct pd_buf id = { .budget = s->budget };
	struct pd_pack_error unused;
	bool follows;

	if (!size || !d || !d->oversized || !r->sample_id || !r->attr)
		return 0;
	follows = !pack_trailer(r, *how, &id, &unused) && id.size == r->attr->trailer_size &&
		  pd_session_is_followed(s, r->attr, pd_buf_bytes(&id), size);
	pd_buf_free(&id);
	return follows ? size : 0;
}

int pd_compose_record(struct pd_session *s, const struct pd_values *v,
		      const struct pd_compose_record *r, pd_node fields,
		      struct pd_buf *out, struct pd_pack_error *e)
{
	struct nested nested = { s, v, out, r->prefer };
	const size_t trailer = (r->sample_id || r->is_synthesized) && r->attr ?
		r->attr->trailer_size : 0;
	const size_t from = out->size, whole = r->cut == PD_SIZE_OPEN ? r->size : r->cut;
	static const char *const common[] = {
		"kind", "offset", "inner_offset", "file", "type", "type_id", "size", "cut", "misc",
		"cpumode", "misc_flags", "attr_index", "event", "sample_id", "trailing", "data",
		NULL };
	struct pd_pack how = { .values = v, .swap = s->swap,
			       .misc = layout_misc(v, r, fields), .size = PD_SIZE_OPEN,
			       .fills = r->type == PD_RECORD_SAMPLE,
			       .feature = pack_nested_feature, .ctx = &nested, .also = common };
	const struct pd_plan *plan = record_plan(s, r);
	uint8_t header[HEADER];
	size_t size;

	*e = (struct pd_pack_error){ .code = PD_OK };
	how.after = size_after_trailer(s, r, fields, &how);
	if (whole != PD_SIZE_OPEN) {
		if (whole < HEADER + trailer + how.after)
			return fail_at(e, PD_E_SIZE, "size", "too small for these fields; omit it");
		how.size = whole - HEADER - trailer - how.after;
	}
	pd_buf_append(out, (const uint8_t[HEADER]){ 0 }, HEADER);
	if (!plan ? pack_opaque(v, fields, out, e) : pd_pack(plan, fields, &how, out, e))
		return -1;
	if (trailer && pack_trailer(r, how, out, e))
		return -1;
	if (how.after && append_hex(v, v->member(fields, "trailing"), "trailing", out, e))
		return -1;
	size = r->size == PD_SIZE_OPEN ? out->size - from : r->size;
	if (size > UINT16_MAX && r->size == PD_SIZE_OPEN)
		return fail_at(e, PD_E_SIZE, "", "the record would be larger than 65535 bytes");
	pd_record_header_store(header,
			       (struct pd_record_header){ r->type ^ r->wrong_type, r->misc,
							  (uint16_t)size },
			       s->swap);
	if (out->failed)
		return fail_at(e, PD_E_LIMIT, "", "too many bytes");
	memcpy(out->data + from, header, HEADER);
	return 0;
}

int pd_feature_of_name(const char *name)
{
	size_t n = strlen(name);
	const struct pd_feature_desc *d;
	char *end;
	unsigned long id;

	if (n > 4 && (strcmp(name + n - 4, "_raw") == 0 || strcmp(name + n - 4, "_hex") == 0))
		n -= 4;
	for (size_t i = 0; (d = pd_feature_desc_at(i)); i++)
		if (strlen(d->field->name) == n && memcmp(d->field->name, name, n) == 0)
			return (int)d->id;
	if (strncmp(name, "FEATURE_", 8) != 0 || name[8] < '0' || name[8] > '9')
		return -1;
	id = strtoul(name + 8, &end, 10);
	return *end == '\0' && id < PD_FEATURE_BITS ? (int)id : -1;
}

int pd_compose_feature(struct pd_session *s, const struct pd_values *v, const char *name,
		       pd_node features,
		       enum pd_prefer prefer, struct pd_buf *out, struct pd_pack_error *e)
{
	const struct pd_pack how = { .values = v, .swap = s->swap, .size = PD_SIZE_OPEN };
	const int id = pd_feature_of_name(name);
	const struct pd_feature_desc *d = id < 0 ? NULL : pd_feature_desc((uint32_t)id);
	const struct pd_plan *plan;
	char raw[96];
	pd_node n;

	*e = (struct pd_pack_error){ .code = PD_OK };
	if (!d) {
		n = v->member(features, name);
		n = n && v->type(n) == PD_NODE_OBJECT ? v->member(n, "raw") : NULL;
		return n ? append_hex(v, n, name, out, e) : 1;
	}
	snprintf(raw, sizeof(raw), "%s_raw", d->field->name);
	n = v->member(features, raw);
	if (n && (prefer == PD_PREFER_RAW || !v->member(features, d->field->name)))
		return append_hex(v, n, raw, out, e);
	snprintf(raw, sizeof(raw), "%s_hex", d->field->name);
	if (!v->member(features, d->field->name) && !v->member(features, raw))
		return 1;
	plan = pd_session_feature_plan(s, d);
	if (!plan)
		return fail_at(e, PD_E_LIMIT, name, "out of memory");
	return pd_pack(plan, features, &how, out, e);
}

bool pd_feature_loses_raw(struct pd_session *s, const struct pd_values *v, uint32_t id,
			  pd_node features)
{
	const struct pd_pack how = { .values = v, .swap = s->swap == PD_SWAP_YES ? PD_SWAP_NO :
		PD_SWAP_YES,
				     .size = PD_SIZE_OPEN };
	const struct pd_feature_desc *d = pd_feature_desc(id);
	const struct pd_plan *plan = d ? pd_session_feature_plan(s, d) : NULL;
	struct pd_buf bytes = { .budget = s->budget }, packed = { .budget = s->budget };
	struct pd_pack_error ignored;
	char raw[96];
	pd_node n;
	bool same;

	if (!plan)
		return false;
	snprintf(raw, sizeof(raw), "%s_raw", d->field->name);
	n = v->member(features, raw);
	if (!n || !v->member(features, d->field->name))
		return false;
	same = !append_hex(v, n, raw, &bytes, &ignored) &&
	       !pd_pack(plan, features, &how, &packed, &ignored) && bytes.size == packed.size &&
	       (!bytes.size || memcmp(bytes.data, packed.data, bytes.size) == 0);
	pd_buf_free(&bytes);
	pd_buf_free(&packed);
	return !same;
}

/* These are records in a pipe, refer to offsets in a file, or have no content. */
bool pd_feature_not_in_pipe(uint32_t id)
{
	static const uint32_t ids[] =
		{ 1 /* TRACING_DATA */, 2 /* BUILD_ID */, 15 /* BRANCH_STACK */, 18 /* AUXTRACE */,
		19 /* STAT */, 24 /* DIR_FORMAT */ };

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool pd_feature_fits_record(uint32_t id, size_t size)
{
	return !pd_feature_is_own(id) &&
	       size <= UINT16_MAX - PD_RECORD_HEADER_SIZE - sizeof(uint64_t);
}

static const char *feature_name(uint32_t id)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);

	return d ? d->field->name : "of an unknown id";
}

const char *pd_feature_left_out(const struct pd_composed_feature *features, size_t i)
{
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++)
		if (features[id].left_out && !i--)
			return feature_name(id);
	return NULL;
}

const char *pd_feature_lost_raw(const struct pd_composed_feature *features, size_t i)
{
	for (uint32_t id = 0; id < PD_FEATURE_BITS; id++)
		if (features[id].lost_raw && !i--)
			return feature_name(id);
	return NULL;
}
