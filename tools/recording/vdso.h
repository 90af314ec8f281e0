/* vdso.h - the code that the kernel maps into all processes, as files in memory. */
#ifndef RECORDING_VDSO_H
#define RECORDING_VDSO_H

/* Return a descriptor, or -1. */
int vdso_open(void);
/* The same for 32-bit processes of a 64-bit kernel. Starts a process, which ends before it
 * returns. */
int vdso_open_32(void);

#endif
