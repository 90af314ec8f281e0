/* reader_about.c - what a reader provides besides records: the file, its events, its features. */
#include <string.h>

#include "pd/pd.h"
#include "plan/extract.h"
#include "reader/reader_internal.h"

#define FEATURE_SAMPLE_TIME "SAMPLE_TIME"

const struct pd_file_info *pd_reader_file(const struct pd_reader *r)
{
	return &r->container.info;
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
	const struct pd_account *around = &r->container.account;
	struct pd_account a = r->account;

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

	return pd_source_is_random(r->source) ? pd_source_pread(r->source, offset, p, n, &ignored) :
						-1;
}

size_t pd_reader_nr_attrs(const struct pd_reader *r)
{
	return r->session.nr_attrs;
}

const struct pd_attr *pd_reader_attr(const struct pd_reader *r, size_t i)
{
	struct pd_attr *a = i < r->session.nr_attrs ? r->session.attrs[i] : NULL;

	if (a)	/* names are made at the first use */
		pd_session_name_event((struct pd_session *)&r->session, a);
	return a;
}

const char *pd_attr_name(const struct pd_attr *a)
{
	return a->name ? a->name : "";
}

size_t pd_attr_index(const struct pd_attr *a)
{
	return a->index;
}

const uint64_t *pd_attr_ids(const struct pd_attr *a, size_t *n)
{
	*n = a->nr_ids;
	return a->ids;
}

void pd_attr_visit(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v,
		   void *ctx)
{
	struct pd_visitor room;

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

size_t pd_reader_nr_features(const struct pd_reader *r)
{
	return r->container.nr_features;
}

int pd_reader_feature(struct pd_reader *r, size_t i, struct pd_feature *out, struct pd_error *e)
{
	const struct pd_section *section;
	const struct pd_feature_desc *d;

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
	    pd_header_load(r->source, section, &r->feature, e))
		return -1;
	out->bytes = pd_buf_bytes(&r->feature);
	return 0;
}

bool pd_reader_time_span(struct pd_reader *r, uint64_t *first, uint64_t *last)
{
	const struct pd_extract extracts[] = { { FEATURE_SAMPLE_TIME, "first", first },
					       { FEATURE_SAMPLE_TIME, "last", last } };
	const struct pd_feature_desc *d;
	struct pd_feature f;
	struct pd_error e;
	struct pd_plan *plan;

	*first = *last = 0;
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		d = pd_feature_desc(r->container.features[i].feature);
		if (!d || strcmp(d->field->name, FEATURE_SAMPLE_TIME) != 0 ||
		    pd_reader_feature(r, i, &f, &e))
			continue;
		plan = pd_session_feature_plan(&r->session, d);
		if (plan)
			pd_extract(plan, f.bytes, r->session.swap, extracts, 2);
	}
	return *last != 0;
}

size_t pd_reader_files(const struct pd_reader *r, const char *const **names)
{
	*names = (const char *const *)r->directory.files;
	return r->directory.nr_files;
}
