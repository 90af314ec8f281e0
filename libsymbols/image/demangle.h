/* demangle.h - libiberty's demanglers with a bound on what they write. */
#ifndef PS_IMAGE_DEMANGLE_H
#define PS_IMAGE_DEMANGLE_H

#include <stddef.h>

/* Demangles a Rust or C++ name into `size` bytes. Returns the length, or 0. */
size_t ps_demangle_bounded(const char *mangled, char *buf, size_t size);

#endif
