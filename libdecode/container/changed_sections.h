/* changed_sections.h - finds the features after one into which bytes were inserted, or from which
 * some were removed. */
#ifndef PD_CONTAINER_CHANGED_SECTIONS_H
#define PD_CONTAINER_CHANGED_SECTIONS_H

#include "container/sections.h"

/* The sections of the features, as the tables state them. */
struct pd_stated_sections {
	struct pd_section list[PD_FEATURE_BITS];	/* by feature, ascending */
	size_t n;
	bool are_moved;			/* some of them, from where the tables state them */
};

/* Corrects the places of the sections of a file that has more or fewer bytes than they add up to.
 * Does nothing unless more features can then be read. Leaves out the changed one if any bytes would
 * do as its content. Returns 0, or -1 and *l->e. */
int pd_changed_sections_correct(const struct pd_loader *l, struct pd_stated_sections *stated);

#endif
