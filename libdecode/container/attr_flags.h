/* attr_flags.h - corrects attr.sample_id_all, by the records. */
#ifndef PD_CONTAINER_ATTR_FLAGS_H
#define PD_CONTAINER_ATTR_FLAGS_H

#include "container/sections.h"

/* Sets sample_id_all of all events to what most of them, their copies (pd_attr.copy) or the first
 * records of `data` have, and reports what differed. Returns 0, or -1 without memory. */
int pd_correct_attr_flags(const struct pd_loader *l, const struct pd_section *data);

#endif
