/* sites.h - the frames of addresses that were found lately: most samples have such addresses. */
#ifndef PP_SITES_H
#define PP_SITES_H

#include "calltree/frames.h"
#include "pd/fields.h"

enum { PP_SITES = 1 << 14 };

/* Numbers for what is mapped for a sample: pd_history_mapped(). */
struct pp_mapped {
	uint64_t process, kernel;
};

struct pp_site {
	uint64_t key;		/* pd_location_key(); 0: free */
	uint64_t addr, file_offset;
	uint32_t frame, image;
};

/* Must be zero-initialized. */
struct pp_sites {
	struct pp_site of_address[PP_SITES];	/* by a hash of the key and the address */
	uint64_t state, kernel;		/* the last pp_mapped.kernel; 0: none yet */
};

/* Returns what is mapped for a sample at a state of the history. */
struct pp_mapped pp_sites_mapped(struct pp_sites *sites, const struct pd_history *h,
				 const struct pd_fields *sample, uint64_t state);

/* Returns where the address is kept. Another one may be there. */
static inline struct pp_site *pp_sites_at(struct pp_sites *sites, uint64_t key, uint64_t addr)
{
	/* the golden ratio, and bits of both that differ */
	const uint64_t hash = (addr ^ key << 32 ^ key >> 33) * 0x9e3779b97f4a7c15ull;

	return &sites->of_address[hash >> 50];
}

#endif
