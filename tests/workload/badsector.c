/* badsector.c - preloaded: the BAD_TIME-th read of the byte at offset BAD_BYTE of a file fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int times;

static ssize_t read_at(const char *name, int fd, void *to, size_t size, off_t offset)
{
	ssize_t (*real)(int, void *, size_t, off_t) =
		(ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, name);
	const off_t bad = atol(getenv("BAD_BYTE"));

	if (offset <= bad && (size_t)(bad - offset) < size &&
	    __atomic_add_fetch(&times, 1, __ATOMIC_RELAXED) == atoi(getenv("BAD_TIME"))) {
		errno = EIO;
		return -1;
	}
	return real(fd, to, size, offset);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	return read_at("pread", fd, to, size, offset);
}

ssize_t pread64(int fd, void *to, size_t size, off_t offset)
{
	return read_at("pread64", fd, to, size, offset);
}
