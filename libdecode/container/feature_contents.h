/* feature_contents.h - reads the features that the tables name, for the session and for damage. */
#ifndef PD_CONTAINER_FEATURE_CONTENTS_H
#define PD_CONTAINER_FEATURE_CONTENTS_H

#include "container/sections.h"

/* Updates the session by the features that others, or records, depend on. Damage is not reported.
 * Returns 0, or -1 and *l->e. */
int pd_features_update(const struct pd_loader *l);

/* Reports the damage of each feature on its own: that of one does not affect the others. Returns 0,
 * or -1 and *l->e. */
int pd_features_check(const struct pd_loader *l);

/* Returns whether the bytes of a feature tell whether it is there: it has lengths, or counts. */
bool pd_feature_has_form(struct pd_session *s, uint32_t feature);

/* Sets *is_filled to whether the section holds such a feature, which fills it. `bytes` is reused.
 * Returns 0, or -1 and *l->e. */
int pd_feature_is_filled(const struct pd_loader *l, const struct pd_section *section,
			 struct pd_buf *bytes, bool *is_filled);

enum pd_feature_form {
	PD_FORM_NONE,		/* the fields are not known, or depend on another feature */
	PD_FORM_FITS,		/* they fill the section */
	PD_FORM_FITS_NOT,
};

/* Sets *form to whether the fields of the feature fill the section, whatever their values are.
 * `bytes` is reused. Returns 0, or -1 and *l->e. */
int pd_feature_look_at_form(const struct pd_loader *l, const struct pd_section *section,
			    struct pd_buf *bytes, enum pd_feature_form *form);

#endif
