/* packing.c - recognizes the compression formats. */
#include "input/packing.h"

const struct pd_packing *pd_packing_of(struct pd_bytes head)
{
	static const struct pd_packing *const all[] = { &pd_packing_gzip, &pd_packing_zstd,
							&pd_packing_xz, &pd_packing_bzip2 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->starts(head))
			return all[i];
	return NULL;
}
