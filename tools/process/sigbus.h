/* sigbus.h - survive SIGBUS when a mapped file (PD_MAP_OWN) shrinks or its disk fails. */
#ifndef PD_TOOLS_SIGBUS_H
#define PD_TOOLS_SIGBUS_H

#include <stdbool.h>

#include "pd/error.h"

/* Installs the handler: from now on bytes that can't be read are zeros. */
void sigbus_watch(void);
/* Returns whether any bytes were replaced by zeros; *e then states that. */
bool sigbus_lost_bytes(struct pd_error *e);

#endif
