/* sites.c - the frames of addresses that were found lately: see sites.h. */
#include "calltree/sites.h"

#define NO_TASK (-1)

struct pp_mapped pp_sites_mapped(struct pp_sites *sites, const struct pd_history *h,
				 const struct pd_fields *sample, uint64_t state)
{
	struct pp_mapped m = {
		.process = pd_history_mapped(h, sample, PD_CPUMODE_USER, state),
	};

	if (!m.process)
		return m;
	if (!sites->kernel || !pd_history_same_state(h, NO_TASK, NO_TASK, sites->state, state))
		sites->kernel = pd_history_mapped(h, sample, PD_CPUMODE_KERNEL, state);
	sites->state = state;
	m.kernel = sites->kernel;
	return m;
}
