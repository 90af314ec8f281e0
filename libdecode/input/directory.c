/* directory.c - finds the files of a directory of perf record --threads, and the missing ones. */
#include "input/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 65536
#define PREFIX "data."

static const char *number_of(const char *name)
{
	return name + strlen(PREFIX);
}

static int by_number(const void *a, const void *b)
{
	const char *x = number_of(*(char *const *)a), *y = number_of(*(char *const *)b);
	size_t n = strlen(x), m = strlen(y);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

static bool is_data(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && *number_of(name) &&
	       strspn(number_of(name), "0123456789") == strlen(number_of(name));
}

static int find_files(struct pd_directory *d)
{
	struct dirent *entry;

	d->files = calloc(MOST_FILES, sizeof(*d->files));
	while (d->files && (entry = readdir(d->dir)) && d->nr_files < MOST_FILES) {
		if (!is_data(entry->d_name))
			continue;
		d->files[d->nr_files] = strdup(entry->d_name);
		if (!d->files[d->nr_files])
			return -1;
		d->nr_files++;
	}
	return d->files ? 0 : -1;
}

static int add_missing(struct pd_directory *d, unsigned int number)
{
	char name[32];

	if (!d->missing)
		d->missing = calloc(MOST_FILES, sizeof(*d->missing));
	if (!d->missing)
		return -1;
	snprintf(name, sizeof(name), PREFIX "%u", number);
	d->missing[d->nr_missing] = strdup(name);
	return d->missing[d->nr_missing++] ? 0 : -1;
}

/* Reports no gaps from MOST_FILES on: no recorder writes that many files. */
static int find_missing(struct pd_directory *d)
{
	unsigned int expected = 0;

	for (size_t i = 0; i < d->nr_files; i++) {
		const unsigned long long number = strtoull(number_of(d->files[i]), NULL, 10);

		for (; expected < number && expected < MOST_FILES; expected++)
			if (add_missing(d, expected))
				return -1;
		if (expected == number)
			expected++;
	}
	return 0;
}

int pd_directory_list(struct pd_directory *d, const char *path)
{
	d->dir = opendir(path);
	if (!d->dir || find_files(d))
		return -1;
	qsort(d->files, d->nr_files, sizeof(*d->files), by_number);
	return find_missing(d);
}

int pd_directory_expect(struct pd_directory *d, size_t n)
{
	const unsigned long long last =
		d->nr_files ? strtoull(number_of(d->files[d->nr_files - 1]), NULL, 10) : 0;

	for (unsigned long long i = last + 1; i < n && i < MOST_FILES; i++)
		if (add_missing(d, (unsigned int)i))
			return -1;
	return 0;
}

void pd_directory_free(struct pd_directory *d)
{
	for (size_t i = 0; i < d->nr_files; i++)
		free(d->files[i]);
	for (size_t i = 0; i < d->nr_missing; i++)
		free(d->missing[i]);
	free(d->files);
	free(d->missing);
	if (d->dir)
		closedir(d->dir);
}

/* Returns why a file is not read, NULL for a regular file. Opening a FIFO or device may block or
 * have effects; a link may lead to private files of the user who reads the directory. */
static const char *why_not_read(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return NULL;
	return S_ISLNK(st->st_mode) ? "a symbolic link, which is not followed: give a directory "
				      "that holds the file itself" :
				      "not a regular file";
}

/* Returns a descriptor, or -1 and errno, or -1 and *why for a file that exists but is not read. */
static int open_regular(int dir, const char *name, const char **why)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	*why = why_not_read(&st);
	fd = *why ? -1 :
		    openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0)	/* the file may have been replaced meanwhile */
		*why = why_not_read(&st);
	if (!*why)
		return fd;
	close(fd);
	return -1;
}

struct pd_source *pd_directory_open(const struct pd_directory *d, const char *name,
				    const struct pd_source_limits *l, struct pd_error *e)
{
	const char *why = NULL;
	const int fd = open_regular(dirfd(d->dir), name, &why);

	if (fd >= 0)
		return pd_source_open_fd(fd, PD_FD_OWNED, l, e);
	*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL, .text = why };
	e->have = why ? EINVAL : (uint64_t)errno;
	return NULL;
}

struct pd_source *pd_directory_open_main(const struct pd_directory *d,
					 const struct pd_source_limits *l, struct pd_error *e)
{
	static const char name[] = "data";
	struct pd_source *source = pd_directory_open(d, name, l, e);

	if (!source && e->code == PD_E_IO && e->have == ENOENT)
		source = pd_directory_open(d, "header", l, e);	/* the name in perf 5.1 to 5.4 */
	if (!source && e->code == PD_E_IO && e->have == ENOENT)
		e->text = "a directory without a file 'data', so it is no recording";
	else if (!source)
		e->file = name;
	return source;
}
