/* sites.h - the addresses that were found lately: most chains have them. Their frames have numbers
 * already. */
#ifndef PC_SITES_H
#define PC_SITES_H

#include "samples/chains.h"

enum { PC_NR_SITES = 1 << 14, PC_NO_SITE = PC_NR_SITES };

struct pc_site {
	uint64_t key;		/* pd_location_key(); 0: free */
	uint64_t addr;
};

/* Returns where the address is kept. Another one may be there. */
static inline struct pc_site *pc_sites_at(struct pc_site *sites, uint64_t key, uint64_t addr)
{
	/* the golden ratio, and bits of both that differ */
	const uint64_t hash = (addr ^ key << 32 ^ key >> 33) * 0x9e3779b97f4a7c15ull;

	return &sites[hash >> 50];
}

#endif
