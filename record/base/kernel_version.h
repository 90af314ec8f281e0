/* kernel_version.h - which kernel runs. */
#ifndef RECORD_KERNEL_VERSION_H
#define RECORD_KERNEL_VERSION_H

#include <stdbool.h>

/* This version or a later one. Distributors add to older ones: what is there may be more. */
bool kernel_version_is(int major, int minor);
/* The same of "5.12". */
bool kernel_version_is_text(const char *version);

#endif
