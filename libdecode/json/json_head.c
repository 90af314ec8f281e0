/* json_head.c - what a record has before its fields: type, misc, event. */
#include "json/json.h"

#include "layout/container.h"
#include "layout/names_tables.h"

#define LONG_NAMES 300	/* of a file and an event: a head with longer ones is not kept */
#define SIZE_AT 6	/* in a record's header */

/* ,"attr_index":0,"event":"cycles" */
static void event(struct pd_json *j, const struct pd_attr *a)
{
	PD_JSONW_KEY(&j->w, "attr_index");
	pd_jsonw_unsigned(&j->w, a->index);
	PD_JSONW_KEY(&j->w, "event");
	pd_jsonw_string(&j->w, a->name ? a->name : "");
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

/* ,"type":"SAMPLE","size": */
static void type_of(struct pd_json *j, const struct pd_frame *f)
{
	PD_JSONW_KEY(&j->w, "type");
	pd_jsonw_string(&j->w, f->desc ? f->desc->name : "UNKNOWN");
	if (!f->desc) {
		PD_JSONW_KEY(&j->w, "type_id");
		pd_jsonw_unsigned(&j->w, f->type);
	}
	PD_JSONW_KEY(&j->w, "size");
}

/* From misc to the event. */
static void properties(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	PD_JSONW_KEY(&j->w, "misc");
	pd_jsonw_unsigned(&j->w, f->misc);
	if (f->desc && f->desc->cpumode) {
		const unsigned int mode = f->misc & PD_MISC_CPUMODE;
		const char *name = pd_name_of(pd_names_cpumode, mode);

		PD_JSONW_KEY(&j->w, "cpumode");
		pd_jsonw_char(&j->w, '"');
		if (name)
			pd_jsonw_raw(&j->w, name, strlen(name));
		else
			pd_jsonw_unsigned(&j->w, mode);
		pd_jsonw_char(&j->w, '"');
	}
	if (f->desc && f->desc->misc)
		misc_flags(j, f->desc->misc, f->misc);
	if (r->attr)
		event(j, r->attr);
}

static void file_of(struct pd_json *j, const struct pd_record *r)
{
	if (!r->file)
		return;
	PD_JSONW_KEY(&j->w, "file");
	pd_jsonw_string(&j->w, r->file);
}

/* Bytes that are no record. */
void pd_json_skipped(struct pd_json *j, const struct pd_record *r)
{
	file_of(j, r);
	PD_JSONW_KEY(&j->w, "type");
	pd_jsonw_string(&j->w, "SKIPPED");
}

void pd_json_odd_head(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	file_of(j, r);
	type_of(j, f);
	pd_jsonw_unsigned(&j->w, f->size);
	if (f->bytes.size != f->size) {
		PD_JSONW_KEY(&j->w, "cut");
		pd_jsonw_unsigned(&j->w, f->bytes.size);
	}
	properties(j, r);
}

/* What was written at `from` becomes text of the form instead. */
static void take_back(struct pd_json *j, struct pd_json_form *form, char *from)
{
	pd_json_form_text(form, from, (size_t)(j->w.at - from));
	j->w.at = from;
}

void pd_json_make_head(struct pd_json *j, struct pd_json_head *h, const struct pd_json_kind *kind)
{
	const struct pd_record as_it_is = {
		.frame = { .type = kind->type, .misc = kind->misc, .desc = pd_record_desc(kind->type) },
		.attr = kind->attr, .file = kind->file };
	const size_t names = (kind->file ? strlen(kind->file) : 0) +
			     (kind->attr && kind->attr->name ? strlen(kind->attr->name) : 0);
	char *const from = (pd_jsonw_room_twice(&j->w), j->w.at);

	h->kind = *kind;
	h->is_good = false;
	if (!as_it_is.frame.desc || names > LONG_NAMES)
		return;
	pd_json_form_init(&h->form, h->blanks, PD_JSON_BLANKS, h->text, PD_JSON_HEAD_TEXT);
	file_of(j, &as_it_is);
	type_of(j, &as_it_is.frame);
	take_back(j, &h->form, from);
	pd_json_form_number(&h->form, SIZE_AT - PD_RECORD_HEADER_SIZE, 2, PD_DEC);
	properties(j, &as_it_is);
	take_back(j, &h->form, from);
	if (kind->list)
		pd_json_form_ops(&h->form, kind->list->ops, kind->list->nr_simple, 0);
	if (kind->optional)
		pd_json_form_ops(&h->form, kind->optional->list->ops, kind->optional->list->nr_ops, kind->optional->offset);
	h->is_good = pd_json_form_is_good(&h->form);
}
