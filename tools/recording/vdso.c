/* vdso.c - the code that the kernel maps into all processes: see vdso.h. */
#include "recording/vdso.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAP_VDSO_32 0x2002		/* of arch_prctl(2), in asm/prctl.h */
#define LOW UINT64_C(0x10000000)	/* an address of 32 bits; others will do */
#define MAPS_MOST 65536

/* Returns a descriptor with the bytes, or -1. */
static int write_memory(const void *start, size_t size)
{
	const int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0 || write(fd, start, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

/* The section headers are the end of it. */
int vdso_open(void)
{
	const char *start = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)start;

	return start ? write_memory(start, header->e_shoff + (size_t)header->e_shentsize *
								     header->e_shnum) : -1;
}

#if defined(__x86_64__) && defined(SYS_arch_prctl)
struct range {
	uintptr_t start, end;
};

/* Sets *keep to where the vdso is. NULL: removes it and its data, of which a process has only one.
 * Returns whether /proc can be read. */
static bool walk_maps(struct range *keep)
{
	char text[MAPS_MOST], *line, *rest = text;
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	while (n + 1 < sizeof(text) && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		struct range r;

		if ((!strstr(line, "[vdso]") && !strstr(line, "[vvar")) ||
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &r.start, &r.end) != 2)
			continue;
		if (!keep)
			munmap((void *)r.start, r.end - r.start);
		else if (strstr(line, "[vdso]"))
			*keep = r;
	}
	return true;
}

/* Writes the vdso of 32 bits. Must not be called in a process that goes on: it has no vdso then. */
static bool write_vdso_32(int fd)
{
	struct range vdso = { 0, 0 };
	const Elf32_Ehdr *header;
	size_t size;

	if (!walk_maps(NULL) || syscall(SYS_arch_prctl, MAP_VDSO_32, LOW) < 0 ||
	    !walk_maps(&vdso) || vdso.end - vdso.start < sizeof(*header))
		return false;
	header = (const void *)vdso.start;
	size = header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
	return size <= vdso.end - vdso.start &&
	       write(fd, (const void *)vdso.start, size) == (ssize_t)size;
}

int vdso_open_32(void)
{
	const int fd = memfd_create("vdso", MFD_CLOEXEC);
	const pid_t pid = fd < 0 ? -1 : fork();
	int status = -1;

	if (!pid)
		_exit(!write_vdso_32(fd));
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
#else
int vdso_open_32(void)
{
	return -1;
}
#endif
