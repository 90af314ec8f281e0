/* repair_features.c - feature sections: those that are intact are copied. */
#include "output/placeholder_formats.h"
#include "repair/repair_internal.h"

/* Returns whether the feature is true of the old file only. AUXTRACE gives the offsets of the
 * AUXTRACE records. */
static bool is_obsolete(const struct pd_repair *p, uint32_t id)
{
	return id == PD_FEATURE_AUXTRACE || (id == PD_FEATURE_COMPRESSED && p->expands) ||
	       (id == PD_FEATURE_DIR_FORMAT &&
		pd_reader_file(p->reader)->mode == PD_MODE_DIRECTORY);
}

/* Makes placeholder formats if the tracepoint formats are unusable. Returns 1 if it did, 0 if there
 * is no need, -1 and *e. Formats are the first feature bit. */
static int replace_formats(struct pd_repair *p, struct pd_buf *sections, struct pd_error *e)
{
	struct pd_feature f = { .id = PD_FEATURE_TRACING_DATA };
	struct pd_error ignored;
	enum pd_placeholder_formats made;

	for (size_t i = 0; i < pd_reader_nr_features(p->reader); i++)
		if (pd_reader_feature(p->reader, i, &f, &ignored) ||
		    f.id == PD_FEATURE_TRACING_DATA)
			break;
	made = pd_placeholder_tracing_data(
		p->session,
		f.id == PD_FEATURE_TRACING_DATA ? f.bytes : (struct pd_bytes){ NULL, 0 }, sections);
	if (made == PD_PLACEHOLDERS_FAILED)
		return pd_repair_fail(e, PD_E_LIMIT, 0);
	return made == PD_PLACEHOLDERS_MADE;
}

/* Returns whether the section is complete and intact. */
static bool is_whole(struct pd_repair *p, const struct pd_feature *f)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	struct pd_extent_of extent;

	for (size_t k = 0; k < info->nr_sections; k++)
		if (info->sections[k].feature == f->id && info->sections[k].offset == f->offset &&
		    f->id && info->sections[k].size != f->bytes.size)
			return false;
	if (pd_reader_feature_is_changed(p->reader, f->id))
		return false;
	return pd_session_check_feature(p->session, f->id, f->bytes, &extent) == PD_OK;
}

/* Sections may overlap: no more is counted than their total size. */
static void drop_feature(struct pd_repair *p, const struct pd_feature *f)
{
	struct pd_account *own = pd_reader_own_account(p->reader), a = { .size = sizeof(a) };

	pd_reader_account(p->reader, &a);
	p->report->features_dropped[f->id] = true;
	own->dropped_features += f->bytes.size;
	if (own->dropped_features > a.features)
		own->dropped_features = a.features;
}

/* Appends the sections that are kept, and sets kept[] to their sizes. Returns their number, or -1
 * and *e. */
static int collect_sections(struct pd_repair *p, struct pd_section *kept, struct pd_buf *sections,
			    struct pd_error *e)
{
	const int replaced = replace_formats(p, sections, e);
	int n = 0;

	if (replaced < 0)
		return -1;
	if (replaced)
		kept[n++] = (struct pd_section){ .feature = PD_FEATURE_TRACING_DATA,
						 .size = sections->size };
	p->report->placeholder_formats = replaced;
	for (size_t i = 0; i < pd_reader_nr_features(p->reader); i++) {
		struct pd_feature f;
		struct pd_error damage;
		const bool is_read = pd_reader_feature(p->reader, i, &f, &damage) == 0;

		if (is_obsolete(p, f.id))
			continue;
		if (!is_read || !is_whole(p, &f) ||
		    (f.id == PD_FEATURE_TRACING_DATA && replaced)) {
			drop_feature(p, &f);
			continue;
		}
		kept[n++] = (struct pd_section){ .feature = f.id, .size = f.bytes.size };
		pd_buf_append(sections, f.bytes.data, f.bytes.size);
		p->report->features[f.id] = true;
	}
	return n;
}

int pd_repair_copy_features(struct pd_repair *p, struct pd_error *e)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	struct pd_section kept[PD_FEATURE_BITS + 1];
	struct pd_buf sections = { .budget = p->session->budget };
	int n, failed;

	/* if the table was never written, or is lost */
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		p->report->features_dropped[i] =
			info->adds_features[i] && !is_obsolete(p, (uint32_t)i);
	n = collect_sections(p, kept, &sections, e);
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		p->report->features_dropped[i] &= !p->report->features[i];
	failed = n < 0;
	if (!failed) {
		failed = pd_compose_feature_tables(p->session, p->out.offset, kept, (size_t)n,
						   &p->header, &p->buf);
		pd_buf_append(&p->buf, sections.data, sections.size);
		failed = failed || sections.failed ? pd_repair_fail(e, PD_E_LIMIT, 0) :
						     pd_repair_flush(p, e);
	}
	pd_buf_free(&sections);
	return failed ? -1 : 0;
}

const char *pd_feature_name(uint32_t id)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);

	return d ? d->field->name : NULL;
}
