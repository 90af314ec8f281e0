/* pages.h - large tables that are read before they are written to. */
#ifndef PD_BASE_PAGES_H
#define PD_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PD_LEAST_PAGE 4096	/* bytes of the smallest there is */

/* Writes to each page of zeroed memory, which may be NULL. A page that was only read is the
 * kernel's page of zeros, and replacing that interrupts all CPUs that run threads of the
 * process. */
static inline void pd_pages_write(void *zeroed, size_t size)
{
	volatile uint8_t *p = zeroed;

	for (size_t i = 0; p && i < size; i += PD_LEAST_PAGE)
		p[i] = 0;
}

#endif
