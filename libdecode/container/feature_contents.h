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

#endif
