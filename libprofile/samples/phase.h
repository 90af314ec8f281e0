/* phase.h - whether samples are taken in lockstep with a periodic timer. */
#ifndef PP_PHASE_H
#define PP_PHASE_H

#include <stdint.h>

enum { PP_PHASE_TIMERS = 4, PP_PHASE_CPUS = 64, PP_PHASE_PARTS = 16 };

/* When in the period of a timer samples were taken, on each CPU. Must be zero-initialized. */
struct pp_phase {
	uint32_t counts[PP_PHASE_TIMERS][PP_PHASE_CPUS][PP_PHASE_PARTS];
};

void pp_phase_note(struct pp_phase *p, uint32_t cpu, uint64_t time);

/* Adds what another one has noted. */
void pp_phase_add(struct pp_phase *p, const struct pp_phase *other);

/* Returns the period, in ns, of a timer in whose step four of five samples were taken, which are of
 * `span` ns; 0: none, or too few samples or periods. */
uint64_t pp_phase_timer(const struct pp_phase *p, uint64_t span);

#endif
