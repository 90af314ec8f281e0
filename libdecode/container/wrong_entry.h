/* wrong_entry.h - corrects an entry of the feature tables of which one number is wrong. */
#ifndef PD_CONTAINER_WRONG_ENTRY_H
#define PD_CONTAINER_WRONG_ENTRY_H

#include "container/changed_sections.h"

/* Corrects the offset or the size of a section, and reports it. Does nothing unless all others
 * then follow each other up to the end of the file. Returns 0, or -1 and *l->e. */
int pd_wrong_entry_correct(const struct pd_loader *l, struct pd_stated_sections *stated);

#endif
