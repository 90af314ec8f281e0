/* reader_about.c - what a reader provides besides records: the file, its events, its features. */
#include <string.h>

#include "base/argument.h"
#include "container/sections.h"
#include "pd/enums.h"
#include "pd/pd.h"
#include "plan/extract.h"
#include "reader/reader_internal.h"

#define SECOND 1000000000ull	/* ns */
#define LONGEST_SPAN (1ull << 53)	/* 104 days, in ns */

const struct pd_file_info *pd_reader_file(const struct pd_reader *r)
{
	return r ? &r->container.info : NULL;
}

/* Returns the number of bytes after the packed stream, which are not read. */
static uint64_t after_packed(const struct pd_source *source)
{
	const struct pd_error *e = pd_source_damage(source);

	return e && e->code == PD_E_TRAILING ? e->skipped : 0;
}

void pd_reader_account_file(const struct pd_reader *r, struct pd_account *a)
{
	pd_stream_account(&r->stream, a);
	if (r->file_source)
		a->unread += after_packed(r->file_source);
}

struct pd_account *pd_reader_own_account(struct pd_reader *r)
{
	return &r->account;
}

void pd_reader_account(const struct pd_reader *r, struct pd_account *out)
{
	const struct pd_account *around;
	struct pd_account a;

	if (!r || !out)
		return;
	around = &r->container.account;
	a = r->account;
	pd_reader_account_file(r, &a);
	a.header += r->container.info.mode == PD_MODE_PIPE ? PD_MAGIC_SIZE : around->header;
	a.features += around->features;
	a.gaps += around->gaps;
	a.zeros += around->zeros;
	a.unread += after_packed(r->source);
	a.total = a.header + a.features + a.records + a.skipped + a.gaps + a.zeros + a.unread;
	a.size = out->size;
	memcpy(out, &a, a.size < sizeof(a) ? a.size : sizeof(a));
}

int64_t pd_reader_read_at(struct pd_reader *r, uint64_t offset, void *p, size_t n)
{
	struct pd_error ignored;

	if (!r || (!p && n) || !pd_source_is_random(r->source))
		return -1;
	return pd_source_pread(r->source, offset, p, n, &ignored);
}

size_t pd_reader_nr_attrs(const struct pd_reader *r)
{
	return r ? r->session.nr_attrs : 0;
}

const struct pd_attr *pd_reader_attr(const struct pd_reader *r, size_t i)
{
	struct pd_attr *a = r && i < r->session.nr_attrs ? r->session.attrs[i] : NULL;

	if (a)	/* names are made at the first use */
		pd_session_name_event((struct pd_session *)&r->session, a);
	return a;
}

const char *pd_attr_name(const struct pd_attr *a)
{
	return a && a->name ? a->name : "";
}

size_t pd_attr_index(const struct pd_attr *a)
{
	return a ? a->index : 0;
}

const struct pd_attr *pd_reader_attr_by_id(struct pd_reader *r, uint64_t id)
{
	struct pd_attr *a = r ? pd_session_by_id(&r->session, id) : NULL;

	if (a)
		pd_session_name_event(&r->session, a);
	return a;
}

const uint64_t *pd_attr_ids(const struct pd_attr *a, size_t *n)
{
	if (n)
		*n = a ? a->nr_ids : 0;
	return a && n ? a->ids : NULL;
}

uint64_t pd_attr_fixed_period(const struct pd_attr *a)
{
	return a && !(a->sample_type & PD_SAMPLE_PERIOD) ? a->sample_period : 0;
}

const char *pd_attr_print_format(const struct pd_attr *a)
{
	return a && a->tracepoint ? a->tracepoint->print_format : "";
}

uint64_t pd_attr_sample_type(const struct pd_attr *a)
{
	return a ? a->sample_type : 0;
}

struct pd_bytes pd_attr_bytes(const struct pd_attr *a)
{
	return a ? a->bytes : (struct pd_bytes){ NULL, 0 };
}

void pd_attr_visit(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v,
		   void *ctx)
{
	struct pd_visitor room;

	if (r && a && v)
		pd_reader_visit_attr(r, a, pd_visitor_of(v, &room), ctx);
}

struct pd_bytes pd_reader_visit_attr(const struct pd_reader *r, const struct pd_attr *a,
				     const struct pd_visitor *v, void *ctx)
{
	const struct pd_session *s = &r->session;
	struct pd_extent_of extent;

	pd_measure(s->file_attr_plan, a->bytes, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit(s->file_attr_plan, a->bytes, 0, s->swap, &extent, v, ctx);
	return (struct pd_bytes){ a->bytes.data + extent.end, a->bytes.size - extent.end };
}

/* Finds the section in a record, or after it. Returns its id and sets *section; -1: none. */
static int section_of(struct pd_reader *r, struct pd_bytes *section)
{
	const struct pd_frame *f = &r->record.frame;
	struct pd_plan *plan = pd_session_body_plan(&r->session, f->desc);
	const struct pd_op *op = plan ? pd_plan_find(plan, "feature") : NULL;
	uint64_t id = PD_FEATURE_BITS;
	struct pd_bytes body;

	*section = r->record.payload;
	if (f->type == PD_RECORD_HEADER_TRACING_DATA)
		return section->size ? PD_FEATURE_TRACING_DATA : -1;
	if (!op || f->bytes.size <= PD_RECORD_HEADER_SIZE + op->offset)
		return -1;
	body = (struct pd_bytes){ f->bytes.data + PD_RECORD_HEADER_SIZE,
				  f->bytes.size - PD_RECORD_HEADER_SIZE };
	pd_extract(plan, body, r->session.swap, &(struct pd_extract){ "", "feat_id", &id }, 1);
	*section = (struct pd_bytes){ body.data + op->offset, body.size - op->offset };
	return id < PD_FEATURE_BITS ? (int)id : -1;
}

void pd_reader_keep_feature(struct pd_reader *r)
{
	const size_t size = r->nr_kept * sizeof(*r->kept);
	const struct pd_feature_desc *d;
	struct pd_feature *kept;
	struct pd_bytes section;
	const int id = section_of(r, &section);
	uint8_t *copy;

	for (size_t i = 0; i < r->nr_kept; i++)
		if (id == (int)r->kept[i].id)
			return;
	if (id < 0 || !(copy = pd_arena_alloc(&r->kept_bytes, section.size)))
		return;
	kept = pd_budget_grow(&r->budget, r->kept, size, size + sizeof(*kept));
	if (!kept)
		return;
	memcpy(copy, section.data, section.size);
	d = pd_feature_desc((uint32_t)id);
	r->kept = kept;
	kept[r->nr_kept++] = (struct pd_feature){
		.id = (uint32_t)id, .name = d ? d->field->name : NULL,
		.bytes = { copy, section.size }, .offset = r->record.frame.offset };
}

size_t pd_reader_nr_features(const struct pd_reader *r)
{
	if (!r)
		return 0;
	return r->nr_kept ? r->nr_kept : r->container.nr_features;
}

uint32_t pd_reader_feature_id(const struct pd_reader *r, size_t i)
{
	return i < r->nr_kept ? r->kept[i].id : r->container.features[i].feature;
}

int pd_reader_feature(struct pd_reader *r, size_t i, struct pd_feature *out, struct pd_error *e)
{
	struct pd_error unused;
	struct pd_feature room;
	const struct pd_section *section;
	const struct pd_feature_desc *d;

	e = pd_error_or(e, &unused);
	out = out ? out : &room;
	if (!r)
		return pd_refuse(e, "no reader");
	if (i < r->nr_kept) {
		*out = r->kept[i];
		return 0;
	}
	if (i >= r->container.nr_features) {
		*out = (struct pd_feature){ .id = 0 };
		*e = (struct pd_error){ .code = PD_E_ARGUMENT, .severity = PD_FATAL, .have = i,
					.text = "the file has fewer features" };
		return -1;
	}
	section = &r->container.features[i];
	d = pd_feature_desc(section->feature);
	*out = (struct pd_feature){ .id = section->feature, .name = d ? d->field->name : NULL,
		.offset = section->offset };
	*e = (struct pd_error){ .code = PD_E_SIZE, .severity = PD_DAMAGED,
		.offset = section->offset };
	if (r->container.left_out[section->feature] ||
	    pd_section_read(r->source, section, &r->feature, e))
		return -1;
	out->bytes = pd_buf_bytes(&r->feature);
	return 0;
}

bool pd_reader_feature_is_changed(const struct pd_reader *r, uint32_t id)
{
	return id < PD_FEATURE_BITS && r->container.changed[id];
}

bool pd_reader_lacks_memory(const struct pd_reader *r)
{
	return r && pd_budget_was_refused(&r->budget);
}

bool pd_reader_time_span(struct pd_reader *r, uint64_t *first, uint64_t *last)
{
	uint64_t from = 0, to = 0;
	const struct pd_extract extracts[] = { { "SAMPLE_TIME", "first", &from },
					       { "SAMPLE_TIME", "last", &to } };
	const struct pd_feature_desc *d;
	struct pd_feature f;
	struct pd_error e;
	struct pd_plan *plan;

	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		if (pd_reader_feature_id(r, i) != PD_FEATURE_SAMPLE_TIME ||
		    pd_reader_feature(r, i, &f, &e))
			continue;
		d = pd_feature_desc(f.id);
		plan = d ? pd_session_feature_plan(&r->session, d) : NULL;
		if (plan)
			pd_extract(plan, f.bytes, r->session.swap, extracts, 2);
	}
	if (from > to || to - from > LONGEST_SPAN)
		from = to = 0;
	if (first)
		*first = from;
	if (last)
		*last = to;
	return to != 0;
}

void pd_reader_credible_times(struct pd_reader *r, struct pd_range *times)
{
	uint64_t first, last, room;

	if (!times)
		return;
	*times = (struct pd_range){ 0, UINT64_MAX };
	if (!pd_reader_time_span(r, &first, &last))
		return;
	room = last - first > SECOND ? last - first : SECOND;
	if (first > room)
		times->from = first - room;
	if (__builtin_add_overflow(last, room, &times->to))
		times->to = UINT64_MAX;
}

bool pd_reader_utc(const struct pd_reader *r, const struct pd_attr *a, uint64_t time, uint64_t *ns)
{
	uint64_t unused;

	return r && a && pd_session_utc(&r->session, a, time, ns ? ns : &unused);
}

size_t pd_reader_files(const struct pd_reader *r, const char *const **names)
{
	*names = (const char *const *)r->directory.files;
	return r->directory.nr_files;
}
