/* read_text.c - read small files of /proc and /sys. */
#include "base/read_text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A shorter read is the last one, without a further read() that returns 0: reads of /proc and /sys
 * stop early only when a page is full, and no line or entry is as long as half a page. */
#define SHORT_READ 2048

ssize_t read_text(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -1;
	while (n < size - 1) {
		got = read(fd, buf + n, size - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
		if (got < SHORT_READ)
			break;
	}
	close(fd);
	if (got < 0 && n == 0)
		return -1;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (ssize_t)n;
}

bool read_text_number(int dir, const char *path, int base, uint64_t *out)
{
	char text[64], *end;

	if (read_text(dir, path, text, sizeof(text)) <= 0)
		return false;
	*out = strtoull(text, &end, base);
	return end != text;
}

static char *grow_text(char *text, size_t *capacity, size_t limit)
{
	size_t more = *capacity * 2;
	char *larger = more <= limit ? realloc(text, more) : NULL;

	if (!larger)
		free(text);
	else
		*capacity = more;
	return larger;
}

char *read_text_all(int dir, const char *path, size_t limit, size_t *size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t capacity = 16384, n = 0;
	char *text = fd >= 0 ? malloc(capacity) : NULL;

	while (text) {
		ssize_t got = read(fd, text + n, capacity - 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			text = NULL;
		}
		if (got <= 0)
			break;
		n += (size_t)got;
		if (n == capacity - 1)
			text = grow_text(text, &capacity, limit);
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[n] = '\0';
	*size = n;
	return text;
}

static int by_number(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

int list_numbered(const char *path, const char *prefix, unsigned int **numbers, size_t *n)
{
	size_t capacity = 0, length = strlen(prefix);
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	*numbers = NULL;
	*n = 0;
	while (dir && !err && (entry = readdir(dir))) {
		const char *rest = entry->d_name + length;

		if (strncmp(entry->d_name, prefix, length) != 0 ||
		    !isdigit((unsigned char)rest[0]) || rest[strspn(rest, "0123456789")])
			continue;
		if (*n == capacity) {
			size_t more = capacity ? capacity * 2 : 64;
			unsigned int *larger = realloc(*numbers, more * sizeof(**numbers));

			err = larger ? 0 : -1;
			*numbers = larger ? larger : *numbers;
			capacity = larger ? more : capacity;
		}
		if (!err)
			(*numbers)[(*n)++] = (unsigned int)strtoul(rest, NULL, 10);
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(*numbers, *n, sizeof(**numbers), by_number);
	return err;
}

size_t parse_cpu_list(const char *list, unsigned int *cpus, size_t n)
{
	size_t found = 0;

	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < 1UL << 20; cpu++, found++)
			if (found < n)
				cpus[found] = (unsigned int)cpu;
		list = *end == ',' ? end + 1 : end;
	}
	return found;
}

bool cpu_list_has(const char *list, unsigned int cpu)
{
	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}
