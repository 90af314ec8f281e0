/* fakepmu.c - preloaded: events of a type from 70 on, which no kernel opens here, whose buffers are
 * filled with the records of the file FAKE_RING and their AUX areas with the bytes of FAKE_AUX: as
 * fast as they are read, the first buffer only. Their clock is one for TIME_CONV. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forward.h"

enum { FIRST_TYPE = 70, MOST = 256, PAGE = 4096, FIRST_ID = 1000 };

struct content {
	const uint8_t *bytes;
	size_t size, done;
};

static int fakes[MOST];
static size_t nr_fakes;
static struct perf_event_mmap_page *page;	/* of the buffer that is filled */
static uint8_t *ring, *aux;
static size_t ring_size, aux_size;
static struct content records, traced;

static int index_of(int fd)
{
	for (size_t i = 0; i < nr_fakes; i++)
		if (fakes[i] == fd)
			return (int)i;
	return -1;
}

static struct content read_content(const char *name)
{
	const char *path = getenv(name);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct content c = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return c;
	c.bytes = malloc((size_t)st.st_size);
	c.size = c.bytes && read(fd, (void *)c.bytes, (size_t)st.st_size) == st.st_size ?
		 (size_t)st.st_size : 0;
	close(fd);
	return c;
}

static void copy_in(uint8_t *to, size_t size, uint64_t at, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[(at + i) % size] = bytes[i];
}

/* Whole records, as many as there is room for. */
static void feed_ring(void)
{
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
	uint64_t head = page->data_head;

	while (records.done < records.size) {
		const uint8_t *at = records.bytes + records.done;
		uint16_t size;

		memcpy(&size, at + offsetof(struct perf_event_header, size), sizeof(size));
		if (head + size - tail > ring_size)
			break;
		copy_in(ring, ring_size, head, at, size);
		head += size;
		records.done += size;
	}
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
}

static void feed_aux(void)
{
	uint64_t tail = __atomic_load_n(&page->aux_tail, __ATOMIC_ACQUIRE);
	uint64_t head = page->aux_head;
	size_t n = traced.size - traced.done;

	/* One that may be overwritten takes all there is. */
	if (!getenv("FAKE_OVERWRITE") && n > aux_size - (head - tail))
		n = aux_size - (head - tail);
	copy_in(aux, aux_size, head, traced.bytes + traced.done, n);
	traced.done += n;
	__atomic_store_n(&page->aux_head, head + n, __ATOMIC_RELEASE);
}

static void *feed(void *unused)
{
	(void)unused;
	for (;;) {
		feed_ring();
		if (aux)
			feed_aux();
		usleep(200);
	}
	return NULL;
}

static long open_fake(void)
{
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd >= 0 && nr_fakes < MOST)
		fakes[nr_fakes++] = fd;
	return fd;
}

long syscall(long nr, ...)
{
	uint32_t type;
	va_list args;
	long a[NR_ARGS];

	va_start(args, nr);
	take_args(a, args);
	va_end(args);
	if (nr == SYS_perf_event_open) {
		memcpy(&type, (const void *)a[0], sizeof(type));
		if (type >= FIRST_TYPE)
			return open_fake();
	}
	return forward_syscall(nr, a);
}

static void *map_ring(size_t size)
{
	uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct perf_event_mmap_page *first = (struct perf_event_mmap_page *)map;
	pthread_t thread;

	if (map == MAP_FAILED)
		return map;
	first->cap_user_time = first->cap_user_time_zero = 1;
	first->time_shift = 31;
	first->time_mult = 0x12345678;
	first->time_zero = 0x123456789abcdef;
	if (page)
		return map;
	page = first;
	ring = map + PAGE;
	ring_size = size - PAGE;
	records = read_content("FAKE_RING");
	traced = read_content("FAKE_AUX");
	pthread_create(&thread, NULL, feed, NULL);
	return map;
}

void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);
	void *map;

	if (!real)
		real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	if (fd < 0 || index_of(fd) < 0)
		return real(at, size, access, flags, fd, offset);
	if (!offset)
		return map_ring(size);
	map = real(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map != MAP_FAILED && !aux && fd == fakes[0]) {
		aux_size = size;
		__atomic_store_n(&aux, map, __ATOMIC_RELEASE);
	}
	return map;
}

/* The name with 64-bit file offsets. */
void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

/* A buffer that is being filled stays mapped. */
int munmap(void *at, size_t size)
{
	static int (*real)(void *, size_t);

	if (!real)
		real = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
	return at == page || at == aux ? 0 : real(at, size);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	long a;
	int i = index_of(fd);

	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	va_start(args, request);
	a = va_arg(args, long);
	va_end(args);
	if (i >= 0 && request == PERF_EVENT_IOC_ID)
		*(uint64_t *)a = (uint64_t)(FIRST_ID + i);
	if (i >= 0 || (request == PERF_EVENT_IOC_SET_OUTPUT && index_of((int)a) >= 0))
		return 0;
	return real(fd, request, a);
}
