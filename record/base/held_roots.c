/* held_roots.c - paths of descriptors. */
#include "base/held_roots.h"

#include <stdio.h>

void held_root_path(const struct held_roots *h, size_t i, char path[HELD_ROOT_PATH])
{
	snprintf(path, HELD_ROOT_PATH, "/proc/%d/fd/%d", (int)h->holder, h->fds[i]);
}
