/* clock.h - the time since an arbitrary start; it never jumps. */
#ifndef RECORD_CLOCK_H
#define RECORD_CLOCK_H

#include <stdint.h>

/* Returns milliseconds. */
uint64_t clock_ms(void);

#endif
