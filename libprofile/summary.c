/* summary.c - the lines above a table: what was recorded, and whether it can be trusted. */
#include <inttypes.h>

#include "out.h"

#define NS 1e9

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_first_line(struct pp_out *out, const struct pp_counted_event *e)
{
	const struct pp_counts *c = &out->p->counts;
	const double wall = c->first == PD_NO_TIME ? 0 : (double)(c->last - c->first) / NS;
	const struct pd_bytes name = { (const uint8_t *)e->weigher.name,
				       __builtin_strlen(e->weigher.name) };

	if (out->o.title)
		pp_printf(out, "%s   ", out->o.title);
	pp_printf(out, "%" PRIu64 " samples of ", e->samples);
	pp_put_name(out, name, 0);
	if (e->weigher.is_time)
		pp_printf(out, ": %.3f s of CPU", (double)e->weight / NS);
	else if (!e->weigher.has_no_weight)
		pp_printf(out, ": %" PRIu64 " counted", e->weight);
	if (wall > 0)
		pp_printf(out, " in %.3f s", wall);
	pp_printf(out, ", %zu thread%s", out->p->nr_threads, out->p->nr_threads == 1 ? "" : "s");
	if (e->weigher.is_time && wall > 0)
		pp_printf(out, ", %.2f CPUs", (double)e->weight / NS / wall);
	pp_printf(out, "; %" PRIu64 " lost, %" PRIu64 " throttled\n", c->lost, c->throttled);
}

/* Shares of the stacks' innermost functions. */
static void put_shares(struct pp_out *out, const struct pp_counted_event *e)
{
	static const char *const words[] = { "kernel", "program", "libraries", "JIT", "inlined",
					     "unknown" };
	const struct pp_profile *p = out->p;
	const uint64_t all = e->weight - e->idle_weight;
	uint64_t kinds[PP_KIND_CUT + 1] = { 0 }, named = 0;

	for (uint32_t i = e->merged; i != PP_NONE; i = pp_next_below(p, e->merged, i)) {
		const struct pp_named *f = &p->functions[p->merged[i].function];

		kinds[f->kind] += p->merged[i].weight;
		if (f->kind <= PP_KIND_UNKNOWN && f->why == PD_WHY_FOUND)
			named += p->merged[i].weight;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (kinds[i])
			pp_printf(out, "%s %.1f %%  ", words[i], percent(kinds[i], all));
	pp_printf(out, "·  names: %.0f %%", percent(named, all));
	if (p->counts.chains)
		pp_printf(out, "  ·  stacks: %.1f %% cut", percent(p->counts.cut,
								    p->counts.chains));
	pp_put_text(out, "\n");
}

/* Each reason to distrust the profile, with what helps. */
static void put_doubts(struct pp_out *out, const struct pp_counted_event *e)
{
	const struct pp_profile *p = out->p;
	const struct pp_counts *c = &p->counts;

	if (e->idle_samples && e->samples)
		pp_printf(out, "idle: %.1f %% of the samples' weight, left out\n",
			  percent(e->idle_weight, e->weight));
	if (c->lost)
		pp_printf(out, "%" PRIu64 " records are lost: record with a larger buffer, "
			  "-m 4M, or a lower frequency\n", c->lost);
	if (c->throttled)
		pp_printf(out, "the kernel throttled the event %" PRIu64 " times: record with a "
			  "lower frequency, -F 1000\n", c->throttled);
	if (!c->chains)
		pp_put_text(out, "no call graphs: record with -g\n");
	else if (c->lone * 2 > c->chains)
		pp_printf(out, "%.0f %% of the stacks are one function: record with --call-graph "
			  "dwarf\n", percent(c->lone, c->chains));
	if (c->small)
		pp_printf(out, "%" PRIu64 " samples are in [small]: give more --memory\n",
			  c->small);
	if (e->weigher.has_no_weight)
		pp_put_text(out, "the samples have no periods: each counts 1\n");
	for (size_t i = 0; i < p->nr_events; i++) {
		const char *name = p->events[i].weigher.name;

		if (i == out->o.event)
			continue;
		pp_printf(out, "also recorded: %" PRIu64 " samples of ", p->events[i].samples);
		pp_put_name(out, (struct pd_bytes){ (const uint8_t *)name,
						    __builtin_strlen(name) }, 0);
		pp_put_text(out, " (-e shows them)\n");
	}
}

void pp_put_summary(struct pp_out *out)
{
	const struct pp_counted_event *e = &out->p->events[out->o.event];

	put_first_line(out, e);
	put_shares(out, e);
	put_doubts(out, e);
}
