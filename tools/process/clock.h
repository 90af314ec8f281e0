/* clock.h - CLOCK_MONOTONIC: the time since an arbitrary start; it never jumps. */
#ifndef PD_TOOLS_CLOCK_H
#define PD_TOOLS_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);
uint64_t clock_ms(void);

#endif
