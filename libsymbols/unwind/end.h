/* end.h - why a chain ends where it does: enum ps_end of the public interface. */
#ifndef PS_UNWIND_END_H
#define PS_UNWIND_END_H

#include "pd/symbols.h"

#define PS_NO_IMAGE PD_NO_IMAGE

#endif
