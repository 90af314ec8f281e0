/* shrink.c - preloaded: the file SHRINK is cut to SHRINK_TO bytes, once a file of 64 KiB or more
 * was mapped; with SHRINK_IN_ZSTD only when zstd is to decompress some of it, with SHRINK_IN_THREAD
 * only when a thread besides the first one has read a piece. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void shrink(void)
{
	const char *path = getenv("SHRINK"), *to = getenv("SHRINK_TO");

	if (path && to && truncate(path, atol(to)))
		_exit(99);
}

static void *map(const char *name, void *at, size_t size, int protection, int flags, int fd,
		 off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) =
		(void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, name);
	void *got = real(at, size, protection, flags, fd, offset);

	if (fd >= 0 && protection == PROT_READ && size >= 65536 && !getenv("SHRINK_IN_ZSTD") &&
	    !getenv("SHRINK_IN_THREAD"))
		shrink();
	return got;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return map("mmap", at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return map("mmap64", at, size, protection, flags, fd, offset);
}

/* The next piece is known to be there, and not read yet. */
int madvise(void *at, size_t size, int advice)
{
	int (*real)(void *, size_t, int) =
		(int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "madvise");
	const int got = real(at, size, advice);

	if (getenv("SHRINK_IN_THREAD") && gettid() != getpid())
		shrink();
	return got;
}

size_t ZSTD_decompressStream(void *stream, void *out, void *in)
{
	size_t (*real)(void *, void *, void *) =
		(size_t(*)(void *, void *, void *))dlsym(RTLD_NEXT, "ZSTD_decompressStream");

	if (getenv("SHRINK_IN_ZSTD"))
		shrink();
	return real(stream, out, in);
}
