/* sigbus.h - what becomes of a file that is mapped (PD_MAP_OWN) when it shrinks, or its disk fails: SIGBUS. */
#ifndef PD_TOOLS_SIGBUS_H
#define PD_TOOLS_SIGBUS_H

#include <stdbool.h>

/* From now on bytes that can't be had are zeros, and the program goes on. */
void sigbus_watch(void);
/* Were there any? */
bool sigbus_lost_bytes(void);

#endif
