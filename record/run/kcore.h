/* kcore.h - --kcore: copies of the kernel's code and symbols, in kcore_dir of the recording's
 * directory. */
#ifndef RECORD_KCORE_H
#define RECORD_KCORE_H

#include "base/log.h"
#include "output/datafile.h"

/* Copies what is readable; logs a warning for the rest. */
void kcore_save(const struct datafile *f, const struct logger *s);

#endif
