/* kernel_version.h - the version of the running kernel. */
#ifndef RECORD_KERNEL_VERSION_H
#define RECORD_KERNEL_VERSION_H

#include <stdbool.h>

/* Whether the kernel has this version or a later one. Kernels of distributions may have features of
 * later versions. */
bool kernel_is_at_least(int major, int minor);
/* The same for "5.12". */
bool kernel_is_at_least_text(const char *version);

#endif
