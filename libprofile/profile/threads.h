/* threads.h - the threads that have samples. */
#ifndef PP_THREADS_H
#define PP_THREADS_H

#include "profile/profile_internal.h"

/* Counts a thread unless it was seen before. Without memory the number of threads is too low. */
void pp_threads_note(struct pp_profile *p, const struct pp_thread *t);

#endif
