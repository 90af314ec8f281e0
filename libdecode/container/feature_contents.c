/* feature_contents.c - reads the features that the tables name, for the session and for damage. */
#include "container/feature_contents.h"

#include "plan/walk.h"

/* Returns whether the session is to have the feature. The attributes and ids of a changed
 * EVENT_DESC are not copies of the events'. */
static bool is_to_be_used(const struct pd_container *c, uint32_t feature)
{
	return !c->left_out[feature] && (feature != PD_FEATURE_EVENT_DESC || !c->changed[feature]);
}

int pd_features_update(const struct pd_loader *l)
{
	static const uint32_t first[] = {
		PD_FEATURE_NRCPUS, PD_FEATURE_ARCH, PD_FEATURE_E_MACHINE, PD_FEATURE_TRACING_DATA,
		PD_FEATURE_PMU_MAPPINGS, PD_FEATURE_EVENT_DESC, PD_FEATURE_COMPRESSED,
		PD_FEATURE_CLOCK_DATA,
	};
	const struct pd_container *c = l->container;
	struct pd_buf bytes = { .budget = l->session->budget };

	for (size_t f = 0; f < sizeof(first) / sizeof(*first); f++)
		for (size_t i = 0; i < c->nr_features; i++) {
			if (c->features[i].feature != first[f] || !is_to_be_used(c, first[f]))
				continue;
			if (pd_section_read(l->source, &c->features[i], &bytes, l->e) == 0)
				pd_session_update_feature(l->session, first[f],
							  pd_buf_bytes(&bytes),
							  c->features[i].offset);
			else if (l->e->code == PD_E_IO) {
				pd_buf_free(&bytes);
				return -1;
			}
		}
	pd_buf_free(&bytes);
	pd_session_correct_names(l->session);
	return 0;
}

/* Reports what the bytes of a feature lack. Returns 0, or -1 and *l->e. */
static int check_feature(const struct pd_loader *l, const struct pd_section *f,
			 struct pd_bytes bytes)
{
	struct pd_extent_of extent;

	if (pd_note_range(l, f->name, f->offset, bytes.size))
		return -1;
	if (bytes.size < f->size)
		pd_report_short(l, f->name, f->offset, f->size, bytes.size);
	else if (pd_session_check_feature(l->session, f->feature, bytes, &extent) != PD_OK)
		l->report->error(l->report->ctx, &(struct pd_error){
			.code = extent.code, .severity = PD_DAMAGED, .record = f->name,
			.field = extent.field->name, .offset = f->offset, .want = extent.want,
			.have = extent.have });
	return 0;
}

int pd_features_check(const struct pd_loader *l)
{
	const struct pd_container *c = l->container;
	struct pd_buf bytes = { .budget = l->session->budget };
	int err = 0;

	for (size_t i = 0; !err && i < c->nr_features; i++) {
		const struct pd_section *f = &c->features[i];

		if (c->left_out[f->feature])
			continue;
		if (pd_section_read(l->source, f, &bytes, l->e) == 0)
			err = check_feature(l, f, pd_buf_bytes(&bytes));
		else if (l->e->code == PD_E_IO)
			err = -1;
		else
			l->report->error(l->report->ctx, l->e);
	}
	pd_buf_free(&bytes);
	return err;
}

/* The form of CPU_TOPOLOGY depends on NRCPUS. */
static struct pd_plan *plan_with_form(struct pd_session *s, uint32_t feature)
{
	const struct pd_feature_desc *d =
		feature == PD_FEATURE_CPU_TOPOLOGY ? NULL : pd_feature_desc(feature);
	struct pd_plan *plan = d ? pd_session_feature_plan(s, d) : NULL;

	return plan && plan->list->size == PD_VARIABLE ? plan : NULL;
}

bool pd_feature_has_form(struct pd_session *s, uint32_t feature)
{
	return plan_with_form(s, feature);
}

int pd_feature_is_filled(const struct pd_loader *l, const struct pd_section *section,
			 struct pd_buf *bytes, bool *is_filled)
{
	const struct pd_plan *plan = plan_with_form(l->session, section->feature);
	struct pd_extent_of extent;

	*is_filled = false;
	if (!plan || !section->size)
		return 0;
	if (pd_section_read(l->source, section, bytes, l->e))
		return l->e->code == PD_E_IO ? -1 : 0;
	if (bytes->size < section->size || pd_all_zero(pd_buf_bytes(bytes)))
		return 0;
	pd_measure(plan, pd_buf_bytes(bytes), 0, l->session->swap, PD_TEXT_TO_END, &extent);
	*is_filled = extent.code == PD_OK && extent.end == section->size;
	return 0;
}

int pd_feature_look_at_form(const struct pd_loader *l, const struct pd_section *section,
			    struct pd_buf *bytes, enum pd_feature_form *form)
{
	const struct pd_feature_desc *d = section->feature == PD_FEATURE_CPU_TOPOLOGY ?
		NULL : pd_feature_desc(section->feature);
	const struct pd_plan *plan = d ? pd_session_feature_plan(l->session, d) : NULL;
	struct pd_extent_of extent;

	*form = plan ? PD_FORM_FITS_NOT : PD_FORM_NONE;
	if (!plan || !section->size)
		return 0;
	if (pd_section_read(l->source, section, bytes, l->e))
		return l->e->code == PD_E_IO ? -1 : 0;
	pd_measure(plan, pd_buf_bytes(bytes), 0, l->session->swap, PD_TEXT_TO_END, &extent);
	if (bytes->size == section->size && extent.code == PD_OK && extent.end == section->size)
		*form = PD_FORM_FITS;
	return 0;
}
