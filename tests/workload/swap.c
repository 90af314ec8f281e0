/* swap.c - preloaded: before the SWAP_AT-th call that makes, renames or removes a name, an attacker
 * moves the directory SWAP aside and puts a link to SWAP_TO there. At the end SWAP_CALLS has the
 * number of calls, and "swapped" if that happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls, swapped;

typedef int (*rename_function)(const char *from, const char *to);

static void swap(void)
{
	rename_function real = (rename_function)dlsym(RTLD_NEXT, "rename");
	const char *directory = getenv("SWAP"), *number = getenv("SWAP_AT");
	char aside[4096];

	if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != atoi(number ? number : "0"))
		return;
	snprintf(aside, sizeof(aside), "%s.aside", directory);
	swapped = real(directory, aside) == 0 && symlink(getenv("SWAP_TO"), directory) == 0;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("SWAP_CALLS");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%d %s\n", calls, swapped ? "swapped" : "");
	fclose(file);
}

static int open_at(const char *name, int dir, const char *path, int flags, va_list args)
{
	int (*real)(int, const char *, int, ...) =
		(int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, name);

	if (!(flags & O_CREAT))
		return real(dir, path, flags);
	swap();
	return real(dir, path, flags, va_arg(args, mode_t));
}

#define OPENS(name, real, dir, ...) \
int name(__VA_ARGS__) \
{ \
	va_list args; \
	int fd; \
\
	va_start(args, flags); \
	fd = open_at(real, dir, path, flags, args); \
	va_end(args); \
	return fd; \
}
OPENS(openat, "openat", at, int at, const char *path, int flags, ...)
OPENS(openat64, "openat64", at, int at, const char *path, int flags, ...)
OPENS(open, "openat", AT_FDCWD, const char *path, int flags, ...)
OPENS(open64, "openat64", AT_FDCWD, const char *path, int flags, ...)

#define SWAPS(name, parameters, ...) \
int name parameters \
{ \
	swap(); \
	return ((int (*) parameters)dlsym(RTLD_NEXT, #name))(__VA_ARGS__); \
}
SWAPS(mkdir, (const char *path, mode_t mode), path, mode)
SWAPS(mkdirat, (int dir, const char *path, mode_t mode), dir, path, mode)
SWAPS(rename, (const char *from, const char *to), from, to)
SWAPS(renameat, (int dir, const char *from, int other, const char *to), dir, from, other, to)
SWAPS(renameat2, (int dir, const char *from, int other, const char *to, unsigned int flags), dir,
      from, other, to, flags)
SWAPS(unlink, (const char *path), path)
SWAPS(unlinkat, (int dir, const char *path, int flags), dir, path, flags)
SWAPS(rmdir, (const char *path), path)
