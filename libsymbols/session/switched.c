/* switched.c - functions of Go's runtime that call others on another stack. Their call frame
 * information is that of before, so that any word would be taken for a return address. */
#include <string.h>

#include "session/session.h"

/* `end`: whether there are no callers, or their stack is not copied. */
static const struct {
	const char *name;
	enum ps_end end;
} switching[] = {
	/* to that of the thread, where the scheduler, the collector and C run */
	{ "systemstack", PS_END_OTHER_STACK }, { "mcall", PS_END_OTHER_STACK },
	{ "morestack", PS_END_OTHER_STACK }, { "asmcgocall", PS_END_OTHER_STACK },
	/* where these call the vdso */
	{ "nanotime1", PS_END_OTHER_STACK }, { "walltime", PS_END_OTHER_STACK },
	{ "vgetrandom1", PS_END_OTHER_STACK },
	/* to that for signals */
	{ "sigreturn__sigaction", PS_END_OTHER_STACK },
	/* begin a thread */
	{ "rt0_go", PS_END_BOTTOM }, { "clone", PS_END_BOTTOM },
};

enum ps_end ps_session_switched(const char *name, size_t size)
{
	static const char prefix[] = "runtime.", suffix[] = ".abi0";
	const size_t before = sizeof(prefix) - 1, after = sizeof(suffix) - 1;

	if (size <= before || memcmp(name, prefix, before) != 0)
		return PS_END_NONE;
	name += before;
	size -= before;
	if (size > after && !memcmp(name + size - after, suffix, after))
		size -= after;
	for (size_t i = 0; i < sizeof(switching) / sizeof(*switching); i++)
		if (strlen(switching[i].name) == size && !memcmp(switching[i].name, name, size))
			return switching[i].end;
	return PS_END_NONE;
}
