/* encode_ignored.c - notice what is stated twice and differs: in a pipe, records have what `attrs`
 * and `features` repeat; EVENT_DESC and EVENT_UPDATE have the names of events. Records and
 * EVENT_DESC are what is written, so an edit of the other place only would be lost silently.
 */
#include "output/encode.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "layout/container.h"

#define NAME_COMPARED 255	/* bytes: as many as pd_encode_attr() keeps */

/* Notes that the member has no effect. */
static void add_ignored(struct pd_encoder *enc, const char *parent, uint64_t index,
			const char *member)
{
	if (enc->nr_ignored++)
		return;
	if (strcmp(parent, "attrs") == 0)
		snprintf(enc->first_ignored, sizeof(enc->first_ignored), "attrs[%llu]%s",
			 (unsigned long long)index, member);
	else
		snprintf(enc->first_ignored, sizeof(enc->first_ignored), "%s.%s", parent, member);
}

/* Never 0. */
static uint64_t hash_of(const struct pd_encoder *enc, struct pd_bytes bytes)
{
	return pd_hash_bytes(enc->seed, bytes.data, bytes.size) | 1;
}

/* Sections differ in the zeros that pad their records. */
static uint64_t hash_of_section(const struct pd_encoder *enc, struct pd_bytes section)
{
	section.size -= pd_zeros_at_end(section);
	return hash_of(enc, section);
}

static uint64_t hash_of_name(const struct pd_encoder *enc, struct pd_bytes name)
{
	if (name.size > NAME_COMPARED)
		name.size = NAME_COMPARED;
	return hash_of(enc, name);
}

void pd_encode_note_section(struct pd_encoder *enc, uint32_t type, struct pd_bytes record,
			    struct pd_bytes payload)
{
	uint64_t id = PD_FEATURE_TRACING_DATA;
	struct pd_bytes section = payload;

	if (type == PD_RECORD_HEADER_FEATURE && record.size > PD_RECORD_HEADER_SIZE + 8) {
		id = pd_load64(record.data + PD_RECORD_HEADER_SIZE, enc->session.swap);
		section = (struct pd_bytes){ record.data + PD_RECORD_HEADER_SIZE + 8,
					     record.size - PD_RECORD_HEADER_SIZE - 8 };
	} else if (type != PD_RECORD_HEADER_TRACING_DATA || !payload.size) {
		return;
	}
	if (id < PD_FEATURE_BITS && !enc->in_records[id])
		enc->in_records[id] = hash_of_section(enc, section);
}

/* Returns whether the ids are those of the event. */
static bool ids_are(const struct pd_encoder *enc, pd_node ids, const struct pd_attr *a)
{
	if (!ids || enc->v->type(ids) != PD_NODE_ARRAY || enc->v->length(ids) != a->nr_ids)
		return false;
	for (size_t i = 0; i < a->nr_ids; i++) {
		uint64_t id = 0;
		pd_node item = enc->v->item(ids, i, &id);

		if ((item && pd_node_number(enc->v, item, NULL, &id)) || id != a->ids[i])
			return false;
	}
	return true;
}

/* Returns whether the attribute in enc->scratch is that of the event. One that was restored has the
 * size of the damaged one. */
static bool attr_is(const struct pd_encoder *enc, const struct pd_attr *a)
{
	const struct pd_bytes stated = pd_buf_bytes(&enc->scratch);
	const bool same_size = stated.size == a->bytes.size ||
		(a->is_restored && stated.size > a->bytes.size);

	return same_size && memcmp(stated.data, a->bytes.data, a->bytes.size) == 0;
}

int pd_encode_compare_attr(struct pd_encoder *enc, pd_node attr, const struct pd_pack *how,
			   struct pd_encode_error *e)
{
	const uint64_t index = enc->nr_stated_attrs++;
	const struct pd_attr *a = index < enc->session.nr_attrs ? enc->session.attrs[index] : NULL;
	pd_node ids = enc->v->member(attr, "ids");
	struct pd_pack_error p;

	if (!a) {
		add_ignored(enc, "attrs", index, "");
		return 0;
	}
	enc->scratch.size = 0;
	if (pd_pack(enc->session.file_attr_plan, attr, how, &enc->scratch, &p)) {
		if (enc->scratch.failed)
			return pd_encode_no_memory(e);
		add_ignored(enc, "attrs", index, "");
	} else if (!attr_is(enc, a)) {
		add_ignored(enc, "attrs", index, ".attr");
	}
	if (ids && !ids_are(enc, ids, a))
		add_ignored(enc, "attrs", index, ".ids");
	return pd_encode_note_name(enc, attr, a, e);
}

int pd_encode_note_name(struct pd_encoder *enc, pd_node attr, const struct pd_attr *a,
			struct pd_encode_error *e)
{
	pd_node name = enc->v->member(attr, "name");
	const uint64_t none = 0, hash = name && enc->v->type(name) == PD_NODE_TEXT ?
		hash_of_name(enc, enc->v->text(name)) : none;

	/* events that were refused have none */
	while (enc->stated_names.size / sizeof(hash) < a->index && !enc->stated_names.failed)
		pd_buf_append(&enc->stated_names, &none, sizeof(none));
	pd_buf_append(&enc->stated_names, &hash, sizeof(hash));
	return enc->stated_names.failed ? pd_encode_no_memory(e) : 0;
}

void pd_encode_use_name(struct pd_encoder *enc, const struct pd_attr *a)
{
	const size_t at = a->index * sizeof(uint64_t);

	if (at < enc->stated_names.size)
		memset(enc->stated_names.data + at, 0, sizeof(uint64_t));
}

static bool is_ascii(struct pd_bytes text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] >= 0x80)
			return false;
	return true;
}

/* Names of other than ASCII are not compared: they may be no UTF-8, which JSON can't show. */
static void compare_names(struct pd_encoder *enc)
{
	for (size_t i = 0; i < enc->stated_names.size / sizeof(uint64_t); i++) {
		const uint64_t stated = pd_load64(enc->stated_names.data + i * sizeof(uint64_t),
						  PD_SWAP_NO);
		char buf[PD_IMPLIED_NAME_MAX];
		const struct pd_bytes name = pd_session_event_name(&enc->session,
							      enc->session.attrs[i], buf);

		if (stated && stated != hash_of_name(enc, name) && is_ascii(name))
			add_ignored(enc, "attrs", i, ".name");
	}
}

static int compare_feature(struct pd_encoder *enc, const char *name, pd_node features,
			   struct pd_encode_error *e)
{
	const enum pd_prefer prefer = enc->swaps ? PD_PREFER_DECODED : PD_PREFER_RAW;
	const int id = pd_feature_of_name(name);
	struct pd_pack_error p;

	if (id >= 0 && enc->in_features[id])
		return 0;	/* X and X_raw are one feature */
	enc->scratch.size = 0;
	if (id >= 0)
		enc->in_features[id] = true;
	if (id < 0 || pd_compose_feature(&enc->session, enc->v, name, features, prefer,
					 &enc->scratch, &p) ||
	    hash_of_section(enc, pd_buf_bytes(&enc->scratch)) != enc->in_records[id])
		add_ignored(enc, "features", 0, name);
	return enc->scratch.failed ? pd_encode_no_memory(e) : 0;
}

int pd_encode_compare_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e)
{
	const char *name;
	pd_node value;

	enc->has_features = true;
	for (size_t i = 0; enc->v->member_at(features, i, &name, &value); i++)
		if (compare_feature(enc, name, features, e))
			return -1;
	return 0;
}

void pd_encode_compare_rest(struct pd_encoder *enc)
{
	compare_names(enc);
	if (enc->nr_stated_attrs && enc->nr_stated_attrs < enc->session.nr_attrs)
		add_ignored(enc, "attrs", enc->nr_stated_attrs, "");
	for (uint32_t id = 0; enc->has_features && id < PD_FEATURE_BITS; id++)
		if (enc->in_records[id] && !enc->in_features[id])
			add_ignored(enc, "features", 0,
				    pd_feature_desc(id) ? pd_feature_desc(id)->field->name :
							  "FEATURE_n");
}

const char *pd_encoder_ignored(const struct pd_encoder *enc, uint64_t *n)
{
	if (n)
		*n = enc ? enc->nr_ignored : 0;
	return enc && enc->nr_ignored ? enc->first_ignored : NULL;
}
