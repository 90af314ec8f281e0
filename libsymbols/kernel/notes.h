/* notes.h - the build id among ELF notes, as /sys/kernel/notes has them. */
#ifndef PS_KERNEL_NOTES_H
#define PS_KERNEL_NOTES_H

#include "pd/bytes.h"

/* Returns the build id, borrowed from the notes of this machine's byte order; empty: there is
 * none. */
struct pd_bytes ps_notes_build_id(struct pd_bytes notes);

#endif
