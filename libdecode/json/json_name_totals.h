/* json_name_totals.h - how many frames of samples have a name, and where copied stacks end. */
#ifndef PD_JSON_NAME_TOTALS_H
#define PD_JSON_NAME_TOTALS_H

#include "base/jsonw.h"
#include "pd/names.h"

enum { PD_JSON_WHYS = 32, PD_JSON_ENDS = 16 };	/* more than there are words */

/* Must be zero-initialized. */
struct pd_json_name_totals {
	uint64_t by_why[PD_JSON_WHYS];		/* frames, by enum pd_why */
	struct pd_end_count ends[PD_JSON_ENDS];
	size_t nr_ends;
};

void pd_json_name_totals_why(struct pd_json_name_totals *t, unsigned int why, uint64_t frames);
/* Counts a copied stack that ends for the reason. */
void pd_json_name_totals_end(struct pd_json_name_totals *t, const char *end);
/* Moves the totals of `from`. */
void pd_json_name_totals_add(struct pd_json_name_totals *t, struct pd_json_name_totals *from);
void pd_image_frames_add(struct pd_image_frames *to, const struct pd_image_frames *from);
/* Writes them as an object. */
void pd_json_name_totals_write(struct pd_jsonw *w, const struct pd_json_name_totals *t);

#endif
