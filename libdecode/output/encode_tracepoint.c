/* encode_tracepoint.c - finds fields of a tracepoint that were edited. They were decoded from
 * raw.data, which is what is written: an edit of them alone would be lost. */
#include "output/encode.h"

#include <stdio.h>
#include <string.h>

/* The fields that a sample states, beside those of its data. */
struct stated_fields {
	const struct pd_values *v;
	pd_node fields;
	size_t next;			/* member after the last one that was found */
	const struct pd_tp_field *wrong;	/* the first that differs, or NULL */
};

/* Returns the member of the field, or NULL. They are in the order of the format. */
static pd_node find_member(struct stated_fields *s, const struct pd_tp_field *f)
{
	const char *name;
	pd_node value;

	if (!s->v->member_at(s->fields, s->next, &name, &value))
		return NULL;
	if (strcmp(name, f->name) != 0)
		return s->v->member(s->fields, f->name);
	s->next++;
	return value;
}

/* Returns whether the node is another number; NULL stands for `plain`. Programs that have all
 * numbers as doubles round large ones. */
static bool is_other_number(const struct pd_values *v, const struct pd_tp_field *f, pd_node n,
			    uint64_t plain, uint64_t value)
{
	uint64_t stated = plain;

	if ((n && pd_node_number(v, n, NULL, &stated)) || stated == value)
		return false;
	return f->is_signed ? (double)(int64_t)stated != (double)(int64_t)value :
			      (double)stated != (double)value;
}

static void compare_number(void *ctx, const struct pd_tp_field *f, uint64_t value)
{
	struct stated_fields *s = ctx;
	const pd_node n = find_member(s, f);

	if (n && !s->wrong && is_other_number(s->v, f, n, 0, value))
		s->wrong = f;
}

static void compare_numbers(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *values)
{
	struct stated_fields *s = ctx;
	const pd_node n = find_member(s, f);
	bool differs;

	if (!n || s->wrong || s->v->type(n) != PD_NODE_ARRAY)
		return;
	differs = s->v->length(n) != values->count;
	for (size_t i = 0; i < values->count && !differs; i++) {
		uint64_t plain = 0;
		const pd_node item = s->v->item(n, i, &plain);

		differs = is_other_number(s->v, f, item, plain,
					  pd_tp_element(f, values, i));
	}
	if (differs)
		s->wrong = f;
}

static void compare_text(void *ctx, const struct pd_tp_field *f, struct pd_bytes text)
{
	struct stated_fields *s = ctx;
	const pd_node n = find_member(s, f);
	struct pd_bytes stated;
	char hex[PD_TP_MAX_DECLARATION + sizeof("_hex")];

	if (!n || s->wrong || s->v->type(n) != PD_NODE_TEXT)
		return;
	stated = s->v->text(n);
	if (stated.size == text.size &&
	    (!text.size || memcmp(stated.data, text.data, text.size) == 0))
		return;
	snprintf(hex, sizeof(hex), "%s_hex", f->name);
	if (!s->v->member(s->fields, hex))	/* else the text is no UTF-8 */
		s->wrong = f;
}

/* Returns the format of the event, by the TRACING_DATA that came before the records, or NULL. */
static const struct pd_tp_event *find_stated_format(struct pd_encoder *enc,
						    const struct pd_attr *a)
{
	const struct pd_composed_feature *tracing = &enc->features[PD_FEATURE_TRACING_DATA];

	if (!enc->has_formats && tracing->given)
		pd_session_update_feature(&enc->session, PD_FEATURE_TRACING_DATA,
					  pd_buf_bytes(&tracing->bytes), 0);
	enc->has_formats = true;
	return pd_tracepoints_find(enc->session.tracepoints, a->config);
}

int pd_encode_check_tracepoint(struct pd_encoder *enc, pd_node record, const struct pd_attr *a,
			       struct pd_encode_error *e)
{
	static const struct pd_tp_visitor visitor = { .number = compare_number,
		.numbers = compare_numbers, .text = compare_text };
	const pd_node raw = enc->v->member(record, "raw"), data = enc->v->member(raw, "data");
	struct stated_fields s = { .v = enc->v,
		.fields = enc->v->member(enc->v->member(raw, "tracepoint"), "fields") };
	const struct pd_tp_event *format;
	const size_t size = enc->scratch.size;
	char path[sizeof(e->path)], text[sizeof(e->text)];

	if (!s.fields || !data || enc->v->type(data) != PD_NODE_TEXT ||
	    enc->stated.mode == PD_MODE_PIPE)
		return 0;
	format = find_stated_format(enc, a);
	if (!format)
		return 0;
	if (pd_unhex(enc->v->text(data), &enc->scratch) == 0)
		pd_tp_decode(format, (struct pd_bytes){ enc->scratch.data + size,
							enc->scratch.size - size }, &visitor, &s);
	enc->scratch.size = size;
	if (!s.wrong)
		return 0;
	snprintf(path, sizeof(path), "raw.tracepoint.fields.%s", s.wrong->name);
	snprintf(text, sizeof(text), "contradicts raw.data, which is what is written: change that, "
		 "at byte %u", s.wrong->offset);
	return pd_encode_fail(e, PD_E_ARGUMENT, path, text);
}
