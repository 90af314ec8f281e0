/* json_record.c - one record as a JSON object. */
#include "sink/json.h"

#include <stdio.h>

#include "layout/container.h"
#include "layout/names_tables.h"

#define PAYLOAD_CHUNK 65536

static inline char *put(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define PUT(at, text) put(at, text, sizeof(text) - 1)

/* Rendered text, in steps that need no call. */
static inline char *put_text(char *at, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i += PD_JSON_STEP)
		memcpy(at + i, text + i, PD_JSON_STEP);
	return at + n;
}

static struct pd_json_label *label_of(struct pd_json *j, const struct pd_attr *a)
{
	struct pd_json_label **labels = j->labels, *label;
	size_t bigger = a->index + 16;

	if (a->index >= j->nr_labels) {
		labels = pd_budget_grow(&j->own, j->labels, j->nr_labels * sizeof(*labels), bigger * sizeof(*labels));
		if (!labels)
			return NULL;
		j->labels = labels;
		j->nr_labels = bigger;
	}
	label = labels[a->index];
	if (!label)
		label = labels[a->index] = pd_arena_alloc(&j->arena, sizeof(*label));
	return label;
}

/* ,"attr_index":0,"event":"cycles" */
static void event(struct pd_json *j, const struct pd_attr *a)
{
	struct pd_json_label *label = label_of(j, a);
	uint64_t begun;
	char *from;

	if (label && label->size && label->generation == a->generation) {
		pd_jsonw_room(&j->w);
		j->w.at = put_text(j->w.at, label->text, label->size);
		return;
	}
	pd_jsonw_room(&j->w);
	from = j->w.at;
	begun = j->w.flushed;
	PD_JSONW_KEY(&j->w, "attr_index");
	pd_jsonw_unsigned(&j->w, a->index);
	PD_JSONW_KEY(&j->w, "event");
	pd_jsonw_string(&j->w, a->name ? a->name : "");
	if (label && j->w.flushed == begun && (size_t)(j->w.at - from) <= sizeof(label->text)) {
		label->size = (size_t)(j->w.at - from);
		label->generation = a->generation;
		memcpy(label->text, from, label->size);
	}
}

static void misc_flags(struct pd_json *j, const struct pd_name *names, uint16_t misc)
{
	bool any = false;

	if (!(misc & ~PD_MISC_CPUMODE))
		return;
	for (; names->name; names++) {
		if (!names->value || (misc & names->value) != names->value)
			continue;
		if (!any)
			PD_JSONW_KEY(&j->w, "misc_flags");
		pd_jsonw_char(&j->w, any ? ',' : '[');
		pd_jsonw_string(&j->w, names->name);
		any = true;
	}
	if (any)
		pd_jsonw_char(&j->w, ']');
}

/* ,"cpumode":"KERNEL" */
static void render_cpumode(struct pd_json *j, unsigned int mode)
{
	struct pd_json_text *t = &j->cpumodes[mode];
	const char *name = pd_name_of(pd_names_cpumode, mode);

	t->size = (size_t)snprintf(t->text, sizeof(t->text), name ? ",\"cpumode\":\"%s\"" : ",\"cpumode\":\"%s%u\"",
				   name ? name : "", mode);
}

/* ,"type":"SAMPLE","size": */
static const struct pd_json_text *type_text(struct pd_json *j, const struct pd_record_desc *d)
{
	struct pd_json_text *t = d->type < PD_JSON_TYPES ? &j->types[d->type] : &j->other_type;

	if (!t->size || t == &j->other_type)
		t->size = (size_t)snprintf(t->text, sizeof(t->text), ",\"type\":\"%s\",\"size\":", d->name);
	return t;
}

/* Bytes that are no record. */
static void skipped(struct pd_json *j)
{
	PD_JSONW_KEY(&j->w, "type");
	pd_jsonw_string(&j->w, "SKIPPED");
}

/* What every record begins with. */
static inline void begin(struct pd_json *j)
{
	char *at;

	pd_jsonw_room(&j->w);
	at = j->w.at;
	if (j->options.shape == PD_JSON_LINES) {
		at = PUT(at, "{\"kind\":\"record\",\"offset\":");
	} else {
		*at = ',';
		at += at[-1] != '[';
		at = PUT(at, "\n{\"offset\":");
	}
	j->w.at = at;
}

static inline void end(struct pd_json *j)
{
	pd_jsonw_room(&j->w);
	j->w.at = put(j->w.at, "}\n", 2) - (j->options.shape != PD_JSON_LINES);
}

static inline void where(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	j->w.at = pd_write_decimal(j->w.at, f->offset);
	if (f->inner_offset != PD_OUTER) {
		j->w.at = PUT(j->w.at, ",\"inner_offset\":");
		j->w.at = pd_write_decimal(j->w.at, f->inner_offset);
	}
	if (r->file) {
		PD_JSONW_KEY(&j->w, "file");
		pd_jsonw_string(&j->w, r->file);
	}
}

/* From the type to the event: rendered pieces and a few numbers. */
static void render_head(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const struct pd_record_desc *d = f->desc;
	const struct pd_json_text *type;
	char *at;

	pd_jsonw_room(&j->w);
	at = j->w.at;
	if (d) {
		type = type_text(j, d);
		at = put_text(at, type->text, type->size);
	} else {
		at = PUT(at, ",\"type\":\"UNKNOWN\",\"type_id\":");
		at = pd_write_decimal(at, f->type);
		at = PUT(at, ",\"size\":");
	}
	at = pd_write_decimal(at, f->size);
	if (f->bytes.size != f->size) {
		at = PUT(at, ",\"cut\":");
		at = pd_write_decimal(at, f->bytes.size);
	}
	at = PUT(at, ",\"misc\":");
	at = pd_write_decimal(at, f->misc);
	if (d && d->cpumode) {
		const struct pd_json_text *mode = &j->cpumodes[f->misc & PD_MISC_CPUMODE];

		if (!mode->size)
			render_cpumode(j, f->misc & PD_MISC_CPUMODE);
		at = put_text(at, mode->text, mode->size);
	}
	j->w.at = at;
	if (d && d->misc)
		misc_flags(j, d->misc, f->misc);
	if (r->attr)
		event(j, r->attr);
}

static bool is_head_of(const struct pd_json_head *h, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	return h->desc && h->desc == f->desc && h->size == f->size && h->misc == f->misc && h->attr == r->attr &&
	       (!r->attr || h->generation == r->attr->generation) && f->bytes.size == f->size;
}

/* Many records have the same as one not long before. */
static void head(struct pd_json *j, const struct pd_record *r)
{
	struct pd_json_head *h = &j->heads[r->frame.misc % PD_JSON_HEADS];
	uint64_t begun;
	size_t size;
	char *from;

	pd_jsonw_room(&j->w);
	if (is_head_of(h, r)) {
		j->w.at = put_text(j->w.at, h->text, h->text_size);
		return;
	}
	from = j->w.at;
	begun = j->w.flushed;
	render_head(j, r);
	size = (size_t)(j->w.at - from);
	if (j->w.flushed != begun || size > sizeof(h->text) || r->frame.bytes.size != r->frame.size)
		return;
	*h = (struct pd_json_head){ .desc = r->frame.desc, .attr = r->attr, .generation = r->attr ? r->attr->generation : 0,
		.size = r->frame.size, .misc = r->frame.misc, .text_size = (uint32_t)size };
	memcpy(h->text, from, size);
}

/* The bytes behind the record, in pieces: they may be more than memory holds. */
static void payload(struct pd_json *j)
{
	struct pd_bytes piece;
	struct pd_error e;

	PD_JSONW_KEY(&j->w, "data");
	pd_jsonw_char(&j->w, '"');
	while (pd_payload_read(j->reader, PAYLOAD_CHUNK, &piece, &e) > 0)
		pd_jsonw_hex_inside(&j->w, piece);
	pd_jsonw_char(&j->w, '"');
}

/* Most records are a run of numbers, most trailers too: no walk for them. */
static void fields(struct pd_json *j, const struct pd_record *r)
{
	const enum pd_swap swap = r->session->swap;
	const struct pd_op_list *list = r->plan->list;

	if (pd_is_one_run(list, r->body, r->extent.nr_ops))
		pd_json_run(j, list->ops, list->nr_ops, r->body.data, swap);
	else
		pd_visit_runs(r->plan, r->body, r->frame.misc, swap, &r->extent, &pd_json_visitor, pd_json_run, j);
	if (!r->trailer)
		return;
	list = r->trailer->list;
	if (!pd_is_one_run(list, r->trailer_bytes, list->nr_ops)) {
		pd_record_visit_trailer(r, &pd_json_visitor, j);
		return;
	}
	pd_jsonw_raw(&j->w, ",\"sample_id\":{", 14);
	pd_json_run(j, list->ops, list->nr_ops, r->trailer_bytes.data, swap);
	pd_jsonw_char(&j->w, '}');
}

static inline bool has_payload(const struct pd_record *r)
{
	return r->frame.payload || r->frame.payload_lost;
}

void pd_json_write_record(struct pd_json *j, const struct pd_record *r)
{
	struct pd_bytes trailing;

	j->fields_missing = 0;
	j->record = r;
	begin(j);
	where(j, r);
	if (r->frame.state == PD_FRAME_SKIPPED)
		skipped(j);
	else
		head(j, r);
	if (r->plan) {
		fields(j, r);
		trailing = pd_record_trailing(r);
		if (trailing.size || r->extent.code != PD_OK) {	/* empty ones say that fields are missing */
			PD_JSONW_KEY(&j->w, "trailing");
			pd_jsonw_hex(&j->w, trailing);
		}
		if (has_payload(r) && j->options.blobs != PD_BLOBS_OMIT)
			payload(j);
	} else {
		PD_JSONW_KEY(&j->w, "body");
		pd_jsonw_hex(&j->w, r->body);
	}
	end(j);
	j->record = NULL;
}
