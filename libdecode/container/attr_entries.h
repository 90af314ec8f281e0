/* attr_entries.h - loads the events: entries with an attribute and the section of its ids. */
#ifndef PD_CONTAINER_ATTR_ENTRIES_H
#define PD_CONTAINER_ATTR_ENTRIES_H

#include "container/sections.h"

/* Adds the events of the section `attrs`, and their ids. Returns 0, or -1 and *l->e. */
int pd_attr_entries_load(const struct pd_loader *l, struct pd_section attrs);

/* Adds the original bytes of restored attributes as gaps, so that the file can be rebuilt. The
 * entries begin at `offset`. Returns 0, or -1 and *l->e. */
int pd_attr_entries_keep_damaged(const struct pd_loader *l, uint64_t offset);

#endif
