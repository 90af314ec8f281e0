/* refusing_malloc.c - preloaded: the REFUSED-th allocation of the program itself, not of libraries,
 * or of the library REFUSED_IN, finds no memory. The file ALLOCATIONS, if given, gets the number of
 * allocations. Programs that it executes are left alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static uintptr_t first, last;	/* addresses of the program's code */
static unsigned long refused, own, *count = &own;

static int find_code(struct dl_phdr_info *object, size_t size, void *ctx)
{
	const char *library = getenv("REFUSED_IN");

	(void)size;
	(void)ctx;
	if (library && !strstr(object->dlpi_name, library))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
			first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
			last = first + object->dlpi_phdr[i].p_memsz - 1;
		}
	return 1;	/* the program is the first object */
}

/* The sandbox allows no file to be written at the end: the number is in a shared page. */
static void share_count(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*count)) == 0)
		page = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		abort();
	count = page;
}

static __attribute__((constructor)) void start(void)
{
	const char *path = getenv("ALLOCATIONS");

	refused = strtoul(getenv("REFUSED"), NULL, 10);
	if (path)
		share_count(path);
	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(find_code, NULL);
}

static bool is_refused(const void *caller)
{
	if ((uintptr_t)caller < first || (uintptr_t)caller > last ||
	    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED) != refused)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

char *strdup(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t most)
{
	const size_t n = strnlen(text, most);
	char *copy = is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(n + 1);

	if (!copy)
		return NULL;
	copy[n] = '\0';
	return memcpy(copy, text, n);
}
