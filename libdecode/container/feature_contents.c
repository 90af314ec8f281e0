/* feature_contents.c - reads the features that the tables name, for the session and for damage. */
#include "container/feature_contents.h"

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
			if (c->features[i].feature != first[f] || c->left_out[first[f]])
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
