/* hottest.c - the path from the root to the heaviest function. */
#include "table/hottest.h"

#include "table/function_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_COLUMNS = 40,
	FIRST = 4, LAST = 12,	/* functions of a long path that are shown */
	MOST = 1024,
};

/* Smaller shares are of too little to be called hot: perf's limit for call graphs, and where a
 * function's time is spread over many callees. */
#define LEAST_OF_ALL 0.005
#define LEAST_OF_CALLER 0.25

/* A function, perhaps several times in a row. */
struct step {
	uint32_t node, times;
};

/* Returns whether the path ends at a function: the heaviest one that it calls has little. */
static bool is_end(const struct pp_out *out, uint32_t function, uint32_t callee, uint64_t all)
{
	const struct pp_merged *nodes = out->p->merged;
	const double total = (double)pp_total(&nodes[callee], out->o.measure);

	return pp_is_in_stack(out->p->functions[nodes[function].function].kind) &&
	       (total < LEAST_OF_ALL * (double)all ||
		total < LEAST_OF_CALLER * (double)pp_total(&nodes[function], out->o.measure));
}

static size_t find_path(const struct pp_out *out, struct step *steps, uint64_t all)
{
	const struct pp_merged *nodes = out->p->merged;
	uint32_t at = out->p->events[out->o.event].merged;
	size_t nr = 0;

	for (;;) {
		const uint64_t self = pp_self(&nodes[at], out->o.measure);
		const uint32_t caller = at;

		at = nodes[at].first_child;
		if (at == PP_NONE || self >= pp_total(&nodes[at], out->o.measure) ||
		    is_end(out, caller, at, all))
			return nr;
		if (nr && nodes[steps[nr - 1].node].function == nodes[at].function)
			steps[nr - 1].times++;
		else if (nr < MOST)
			steps[nr++] = (struct step){ at, 1 };
		else
			return nr;
	}
}

static void put_step(struct pp_out *out, const struct step *s, uint64_t all, char *shown)
{
	const struct pp_merged *n = &out->p->merged[s->node];
	char share[16];

	snprintf(share, sizeof(share), "%.0f %% ",
		 100.0 * (double)pp_total(n, out->o.measure) / (double)all);
	pp_put_text(out, strcmp(share, shown) == 0 ? "" : share);
	memcpy(shown, share, sizeof(share));
	pp_put_function_name(out, pp_name_of(out->p, n), NAME_COLUMNS);
	if (s->times > 1)
		pp_printf(out, " ×%" PRIu32, s->times);
}

void pp_put_hottest_path(struct pp_out *out, uint64_t all)
{
	struct step steps[MOST];
	const size_t nr = find_path(out, steps, all);
	char shown[16] = "";	/* the last share: the same one is not written again */

	pp_put_text(out, "hottest path");
	for (size_t i = 0; i < nr; i++) {
		pp_put_text(out, i ? " › " : "  ");
		if (nr > FIRST + LAST + 1 && i == FIRST) {
			pp_printf(out, "… %zu more › ", nr - FIRST - LAST);
			i = nr - LAST;
		}
		put_step(out, &steps[i], all, shown);
	}
	pp_put_text(out, "\n");
}
