/* encode.c - encode the parts of the JSON, one by one. Its records are in encode_record.c. */
#include "base/argument.h"
#include "output/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "layout/container.h"

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
	pd_session_correct_names(&enc->session);	/* as a reader does */
	return 0;
}

int pd_encode_begin(struct pd_encoder *enc, struct pd_encode_error *e)
{
	if (enc->begun)
		return 0;
	if (pd_encode_start(enc, e))
		return -1;
	enc->begun = true;
	return enc->mode == PD_MODE_PIPE ? pd_encode_begin_pipe(enc, e) :
		pd_encode_begin_file(enc, e);
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
	if (pd_encode_start(enc, e) || pd_encode_begin(enc, e) ||
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
