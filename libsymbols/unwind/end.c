/* end.c - why a chain ends where it does. */
#include "unwind/end.h"

#include <stddef.h>

const char *ps_end_name(enum ps_end end)
{
	static const char *const names[] = {
		[PS_END_NONE] = "",
		[PS_END_BOTTOM] = "BOTTOM",
		[PS_END_STACK_CUT] = "STACK_CUT",
		[PS_END_OTHER_STACK] = "OTHER_STACK",
		[PS_END_NO_MAP] = "NO_MAP",
		[PS_END_NO_FILE] = "NO_FILE",
		[PS_END_MISMATCH] = "MISMATCH",
		[PS_END_NO_CFI] = "NO_CFI",
		[PS_END_BAD_CFI] = "BAD_CFI",
		[PS_END_NO_PROGRESS] = "NO_PROGRESS",
		[PS_END_MAX_FRAMES] = "MAX_FRAMES",
		[PS_END_NO_ARCH] = "NO_ARCH",
		[PS_END_LIMIT] = "LIMIT",
	};

	return (size_t)end < sizeof(names) / sizeof(names[0]) ? names[end] : "";
}
