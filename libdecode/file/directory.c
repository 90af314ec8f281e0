/* directory.c - finds the files of a directory of perf record --threads, and which are missing. */
#include "file/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	DIR *dir = opendir(d->path);
	struct dirent *entry;
	int failed = -1;

	if (!dir)
		return -1;
	d->files = calloc(MOST_FILES, sizeof(*d->files));
	while (d->files && (entry = readdir(dir)) && d->nr_files < MOST_FILES) {
		if (!is_data(entry->d_name))
			continue;
		d->files[d->nr_files] = strdup(entry->d_name);
		if (!d->files[d->nr_files])
			goto out;
		d->nr_files++;
	}
	failed = d->files ? 0 : -1;
out:
	closedir(dir);
	return failed;
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

/* No recorder goes up to MOST_FILES: whoever made names behind that, what is missing before it says enough. */
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
	d->path = strdup(path);
	if (!d->path || find_files(d))
		return -1;
	qsort(d->files, d->nr_files, sizeof(*d->files), by_number);
	return find_missing(d);
}

void pd_directory_free(struct pd_directory *d)
{
	for (size_t i = 0; i < d->nr_files; i++)
		free(d->files[i]);
	for (size_t i = 0; i < d->nr_missing; i++)
		free(d->missing[i]);
	free(d->files);
	free(d->missing);
	free(d->path);
}

struct pd_source *pd_directory_open(const struct pd_directory *d, const char *name, const struct pd_source_limits *l,
				    struct pd_error *e)
{
	const size_t size = strlen(d->path) + strlen(name) + 2;
	char *path = malloc(size);
	struct pd_source *source;

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!path)
		return NULL;
	snprintf(path, size, "%s/%s", d->path, name);
	source = pd_source_open_path(path, l, e);
	free(path);
	return source;
}

struct pd_source *pd_directory_open_main(const struct pd_directory *d, const struct pd_source_limits *l,
					 struct pd_error *e)
{
	static const char name[] = "data";
	struct pd_source *source = pd_directory_open(d, name, l, e);

	if (!source && e->code == PD_E_IO && e->have == ENOENT)
		source = pd_directory_open(d, "header", l, e);	/* perf 5.1 to 5.4 */
	if (!source)
		e->file = name;
	return source;
}
