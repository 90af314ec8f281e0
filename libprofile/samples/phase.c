/* phase.c - whether samples are taken in lockstep with a periodic timer.
 *
 * Samples that a timer of the same period causes, or a multiple of its rate, are all at one time
 * of that period: work that the timer starts is then always, or never, seen. The periods are those
 * of the kernel's tick: HZ of 1000, 300, 250 and 100.
 */
#include "samples/phase.h"

enum { SAMPLES_NEEDED = 100, PERIODS_NEEDED = 10 };

#define TIMERS(EACH) EACH(0, 1000000) EACH(1, 3333333) EACH(2, 4000000) EACH(3, 10000000)

#define PERIOD(i, ns) [i] = (ns),
static const uint64_t timers[PP_PHASE_TIMERS] = { TIMERS(PERIOD) };

/* A division by a constant is a multiplication: this is done for each sample. */
void pp_phase_note(struct pp_phase *p, uint32_t cpu, uint64_t time)
{
#define NOTE(i, ns) \
	p->counts[i][cpu % PP_PHASE_CPUS][time % UINT64_C(ns) * PP_PHASE_PARTS / UINT64_C(ns)]++;
	TIMERS(NOTE)
}

void pp_phase_add(struct pp_phase *p, const struct pp_phase *other)
{
	for (int i = 0; i < PP_PHASE_TIMERS; i++)
		for (int cpu = 0; cpu < PP_PHASE_CPUS; cpu++)
			for (int part = 0; part < PP_PHASE_PARTS; part++)
				p->counts[i][cpu][part] += other->counts[i][cpu][part];
}

/* Sets *most to the samples in the fullest two neighbouring parts. Returns all samples. */
static uint64_t sum_parts(const uint32_t *parts, uint64_t *most)
{
	uint64_t all = 0;

	*most = 0;
	for (int i = 0; i < PP_PHASE_PARTS; i++) {
		const uint64_t two = (uint64_t)parts[i] + parts[(i + 1) % PP_PHASE_PARTS];

		all += parts[i];
		*most = two > *most ? two : *most;
	}
	return all;
}

uint64_t pp_phase_timer(const struct pp_phase *p, uint64_t span)
{
	for (int i = 0; i < PP_PHASE_TIMERS; i++) {
		uint64_t all = 0, together = 0, most;

		for (int cpu = 0; cpu < PP_PHASE_CPUS; cpu++) {
			all += sum_parts(p->counts[i][cpu], &most);
			together += most;
		}
		if (all >= SAMPLES_NEEDED && span / timers[i] >= PERIODS_NEEDED &&
		    together * 5 >= all * 4)
			return timers[i];
	}
	return 0;
}
