/* json_record.c - one record as a JSON object. */
#include "sink/json.h"

#include "layout/container.h"
#include "layout/names_tables.h"

#define PAYLOAD_CHUNK 65536

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
		pd_jsonw_raw(&j->w, label->text, label->size);
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

static void cpumode(struct pd_json *j, uint16_t misc)
{
	const char *name = pd_name_of(pd_names_cpumode, misc & PD_MISC_CPUMODE);

	PD_JSONW_KEY(&j->w, "cpumode");
	if (name) {
		pd_jsonw_string(&j->w, name);
		return;
	}
	pd_jsonw_char(&j->w, '"');
	pd_jsonw_unsigned(&j->w, misc & PD_MISC_CPUMODE);
	pd_jsonw_char(&j->w, '"');
}

static void common(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const struct pd_record_desc *d = f->desc;

	PD_JSONW_KEY(&j->w, "offset");
	pd_jsonw_unsigned(&j->w, f->offset);
	if (f->inner_offset != PD_OUTER) {
		PD_JSONW_KEY(&j->w, "inner_offset");
		pd_jsonw_unsigned(&j->w, f->inner_offset);
	}
	if (r->file) {
		PD_JSONW_KEY(&j->w, "file");
		pd_jsonw_string(&j->w, r->file);
	}
	PD_JSONW_KEY(&j->w, "type");
	pd_jsonw_char(&j->w, '"');
	pd_jsonw_raw(&j->w, pd_record_name(r), strlen(pd_record_name(r)));
	pd_jsonw_char(&j->w, '"');
	if (f->state == PD_FRAME_SKIPPED)
		return;
	if (!d) {
		PD_JSONW_KEY(&j->w, "type_id");
		pd_jsonw_unsigned(&j->w, f->type);
	}
	PD_JSONW_KEY(&j->w, "size");
	pd_jsonw_unsigned(&j->w, f->size);
	if (f->bytes.size != f->size) {
		PD_JSONW_KEY(&j->w, "cut");
		pd_jsonw_unsigned(&j->w, f->bytes.size);
	}
	PD_JSONW_KEY(&j->w, "misc");
	pd_jsonw_unsigned(&j->w, f->misc);
	if (d && d->cpumode)
		cpumode(j, f->misc);
	if (d && d->misc)
		misc_flags(j, d->misc, f->misc);
	if (r->attr)
		event(j, r->attr);
}

/* The bytes behind the record, in pieces: they may be more than memory holds. */
static void payload(struct pd_json *j, const struct pd_record *r)
{
	struct pd_bytes piece;
	struct pd_error e;

	if (!r->frame.payload || j->options.blobs == PD_BLOBS_OMIT)
		return;
	PD_JSONW_KEY(&j->w, "data");
	pd_jsonw_char(&j->w, '"');
	while (pd_payload_read(j->reader, PAYLOAD_CHUNK, &piece, &e) > 0)
		pd_jsonw_hex_inside(&j->w, piece);
	pd_jsonw_char(&j->w, '"');
}

void pd_json_record(struct pd_json *j, const struct pd_record *r)
{
	struct pd_bytes trailing = pd_record_trailing(r);

	j->record = r;
	common(j, r);
	if (r->plan) {
		pd_record_visit(r, &pd_json_visitor, j);
		if (trailing.size || r->extent.code != PD_OK) {	/* empty ones say that fields are missing */
			PD_JSONW_KEY(&j->w, "trailing");
			pd_jsonw_hex(&j->w, trailing);
		}
		payload(j, r);
	} else {
		PD_JSONW_KEY(&j->w, "body");
		pd_jsonw_hex(&j->w, r->body);
	}
	j->record = NULL;
}
