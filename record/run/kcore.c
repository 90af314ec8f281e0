/* kcore.c - fill kcore_dir. The kernel patches its code while running, and its addresses change at
 * the next boot. */
#include "run/kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "run/kcore_copy.h"
#include "synth/synth_kernel.h"

#define TEXT_MOST (256u << 20)
enum { PAGE = 4096 };

/* Returns 0, or an errno. Copies a missing file as an empty one: a kernel without modules has no
 * /proc/modules. */
static int copy_text(int dir, const char *path, const char *name)
{
	size_t size = 0, at = 0;
	char *text = read_text_all(AT_FDCWD, path, TEXT_MOST, &size);
	int error = text || errno == ENOENT ? 0 : errno, fd = -1;

	if (!error) {
		fd = datafile_create(dir, name);
		error = fd < 0 ? errno : 0;
	}
	while (!error && text && at < size) {
		ssize_t n = write(fd, text + at, size - at);

		if (n < 0)
			error = errno;
		else
			at += (size_t)n;
	}
	if (fd >= 0 && close(fd) && !error)
		error = errno;
	if (fd >= 0 && error)
		unlinkat(dir, name, 0);
	free(text);
	return error;
}

/* Returns the addresses of the kernel's code and of its modules, for free(). NULL: unknown, or no
 * memory. */
static struct code_range *find_code(size_t *n)
{
	struct kernel_text k = { 0 };
	size_t size, lines = 1;
	char *text = read_text_all(AT_FDCWD, "/proc/modules", TEXT_MOST, &size);
	struct code_range *ranges = NULL;

	*n = 0;
	for (size_t i = 0; text && i < size; i++)
		lines += text[i] == '\n';
	if (kernel_text_read(&k, KERNEL_TEXT_START_AND_END) && k.end)
		ranges = calloc(lines + 1, sizeof(*ranges));
	if (ranges)
		ranges[(*n)++] = (struct code_range){ k.stext ? k.stext : k.text, k.end };
	for (char *line = text; ranges && line && *line && *n <= lines;) {
		uint64_t length, address;
		char *end = strchr(line, '\n');

		if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s %" SCNx64, &length, &address) == 2 &&
		    address && length < UINT64_MAX - address)
			ranges[(*n)++] = (struct code_range){ address, address + length };
		line = end ? end + 1 : NULL;
	}
	free(text);
	if (ranges)
		*n = code_ranges_join(ranges, *n, PAGE);
	return ranges;
}

static void copy_code(int dir, const struct logger *s)
{
	size_t n;
	struct code_range *ranges = find_code(&n);
	int from = open("/proc/kcore", O_RDONLY | O_CLOEXEC), to = -1, error = from < 0 ? errno : 0;

	if (!error && ranges) {
		to = datafile_create(dir, "kcore");
		error = to < 0 ? errno : kcore_copy(from, to, ranges, n);
		if (to >= 0 && close(to) && !error)
			error = errno;
		if (to >= 0 && error)
			unlinkat(dir, "kcore", 0);
	}
	if (error)
		log_at(s, LOG_WARNING, "the kernel's code is not copied: /proc/kcore: %s%s",
		       strerror(error),
		       error == ENOENT ? " (a kernel without CONFIG_PROC_KCORE)" : "");
	else if (!ranges)
		log_at(s, LOG_WARNING,
		       "the kernel's code is not copied: /proc/kallsyms does not state its end");
	if (from >= 0)
		close(from);
	free(ranges);
}

void kcore_save(const struct datafile *f, const struct logger *s)
{
	static const char *const names[] = { "kallsyms", "modules" };
	struct kernel_text k = { 0 };
	int dir;

	if (!kernel_text_read(&k, KERNEL_TEXT_START)) {
		log_at(s, LOG_WARNING,
		       "the kernel's code and symbols are not copied: their addresses are hidden "
		       "from this user (kernel.kptr_restrict, kernel.perf_event_paranoid)");
		return;
	}
	dir = datafile_create_directory(f, "kcore_dir");
	if (dir < 0) {
		log_at(s, LOG_WARNING, "can't create kcore_dir: %s", strerror(errno));
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[32];
		int error;

		snprintf(path, sizeof(path), "/proc/%s", names[i]);
		error = copy_text(dir, path, names[i]);
		if (error)
			log_at(s, LOG_WARNING, "%s is not copied to kcore_dir: %s", path,
			       strerror(error));
	}
	copy_code(dir, s);
	close(dir);
}
