/* keep.c - the samples one by one, when there is no memory for all of them. */
#include "profile/keep.h"

int pp_keep_none(struct pp_profile *p)
{
	if (p->options.keep == PP_KEEP_SAMPLES)
		return -1;
	p->counts.lacks_times |= p->options.keep == PP_KEEP_WHAT_FITS;
	pp_tracks_free(&p->tracks);
	p->options.keep = PP_KEEP_SUMS;
	return 0;
}
