/* forward.h - passes a call of syscall(2) on to the C library, for programs that replace it. */
#ifndef FORWARD_H
#define FORWARD_H

#include <dlfcn.h>
#include <stdarg.h>

enum { NR_ARGS = 6 };

static void take_args(long a[NR_ARGS], va_list args)
{
	for (int i = 0; i < NR_ARGS; i++)
		a[i] = va_arg(args, long);
}

static long forward_syscall(long nr, const long a[NR_ARGS])
{
	static long (*real)(long, ...);

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
