/* json_head.c - writes the members before a record's fields: type, size, misc, event. */
#include "json/json.h"

#include "layout/container.h"
#include "layout/names_tables.h"

#define MAX_NAMES 300	/* bytes of file and event name; with longer ones no program is compiled */
#define SIZE_AT 6	/* in a record's header */

/* ,"attr_index":0,"event":"cycles" */
static void write_event(struct pd_jsonw *w, const struct pd_attr *a)
{
	PD_JSONW_NUMBER(w, "attr_index", a->index);
	PD_JSONW_STRING(w, "event", a->name ? a->name : "");
}

static void write_misc_flags(struct pd_jsonw *w, const struct pd_name *names, uint16_t misc)
{
	bool any = false;

	if (!(misc & ~PD_MISC_CPUMODE))
		return;
	for (; names->name; names++) {
		if (!names->value || (misc & names->value) != names->value)
			continue;
		if (!any)
			PD_JSONW_KEY(w, "misc_flags");
		pd_jsonw_char(w, any ? ',' : '[');
		pd_jsonw_string(w, names->name);
		any = true;
	}
	if (any)
		pd_jsonw_char(w, ']');
}

/* ,"type":"SAMPLE","size": */
static void write_type(struct pd_jsonw *w, const struct pd_frame *f)
{
	PD_JSONW_STRING(w, "type", f->desc ? f->desc->name : "UNKNOWN");
	if (!f->desc || f->wrong_type)
		PD_JSONW_NUMBER(w, "type_id", f->type ^ f->wrong_type);
	PD_JSONW_KEY(w, "size");
}

/* The members from misc to event. */
static void write_misc_and_event(struct pd_jsonw *w, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	PD_JSONW_NUMBER(w, "misc", f->misc);
	if (f->desc && f->desc->cpumode) {
		const unsigned int mode = f->misc & PD_MISC_CPUMODE;
		const char *name = pd_name_of(pd_names_cpumode, mode);

		PD_JSONW_KEY(w, "cpumode");
		pd_jsonw_char(w, '"');
		if (name)
			pd_jsonw_raw(w, name, strlen(name));
		else
			pd_jsonw_unsigned(w, mode);
		pd_jsonw_char(w, '"');
	}
	if (f->desc && f->desc->misc)
		write_misc_flags(w, f->desc->misc, f->misc);
	if (r->attr)
		write_event(w, r->attr);
}

static void write_file(struct pd_jsonw *w, const struct pd_record *r)
{
	if (!r->file)
		return;
	PD_JSONW_STRING(w, "file", r->file);
}

static void write_skipped_head(struct pd_jsonw *w, const struct pd_record *r)
{
	write_file(w, r);
	PD_JSONW_STRING(w, "type", "SKIPPED");
}

static void write_head(struct pd_jsonw *w, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	write_file(w, r);
	write_type(w, f);
	pd_jsonw_unsigned(w, f->size);
	if (f->bytes.size != f->size)
		PD_JSONW_NUMBER(w, "cut", f->bytes.size);
	write_misc_and_event(w, r);
}

/* Names of a sample's places, and wall times, take more than its bytes. */
static bool is_whole(const struct pd_emit *p, const struct pd_json *j,
		     const struct pd_emit_key *key, const struct pd_record *r)
{
	const struct pd_op_list *list = key->of ? r->plan->list : NULL;

	return list && list->nr_simple == list->nr_ops && !p->is_unusable &&
	       !j->options.history && j->options.times != PD_JSON_CLOCK_AND_UTC;
}

void pd_json_compile_record(struct pd_emit *p, const struct pd_json *j,
			    const struct pd_emit_key *key, const struct pd_record *r)
{
	const size_t names = (r->file ? strlen(r->file) : 0) +
			     (r->attr && r->attr->name ? strlen(r->attr->name) : 0);
	struct pd_emit_scratch s;

	pd_emit_begin(p, key);
	p->is_unusable = names > MAX_NAMES;
	if (p->is_unusable)
		return;
	pd_emit_scratch_init(&s);
	write_file(&s.w, r);
	write_type(&s.w, &r->frame);
	pd_emit_add_scratch(p, &s);
	pd_emit_add_number(p, SIZE_AT - PD_RECORD_HEADER_SIZE, 2, PD_DEC);
	write_misc_and_event(&s.w, r);
	pd_emit_add_scratch(p, &s);
	if (key->of)
		pd_emit_add_ops(p, j, key->of, r->plan->list->nr_simple);
	pd_emit_end(p);
	p->is_whole = is_whole(p, j, key, r);
}

void pd_json_write_head_slow(struct pd_json *j, const struct pd_record *r)
{
	if (r->frame.state == PD_FRAME_SKIPPED)
		write_skipped_head(&j->w, r);
	else
		write_head(&j->w, r);
}
