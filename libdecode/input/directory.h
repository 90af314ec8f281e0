/* directory.h - a directory of perf record --threads: the file `data`, and data.0, data.1, ... for
 * the threads. */
#ifndef PD_INPUT_DIRECTORY_H
#define PD_INPUT_DIRECTORY_H

#include <dirent.h>

#include "input/source.h"

#define PD_DIRECTORY_FIRST "data.0"

struct pd_directory {
	DIR *dir;
	char **files;		/* names of the data.N, ordered by N */
	size_t nr_files;
	char **missing;		/* names that are missing, below the largest N, as recorders leave
				 * none out, or as pd_directory_expect() was told */
	size_t nr_missing;
};

/* Lists the files of the directory. Returns 0, or -1 and errno. Must be followed by
 * pd_directory_free() in either case. */
int pd_directory_list(struct pd_directory *d, const char *path);
void pd_directory_free(struct pd_directory *d);
/* Adds to d->missing the files after the last one, of which there must be n. Returns 0, or -1
 * without memory. */
int pd_directory_expect(struct pd_directory *d, size_t n);

/* Opens a regular file of the directory itself. Returns NULL and *e on failure, also for a link, a
 * FIFO or a device. Never blocks. */
struct pd_source *pd_directory_open(const struct pd_directory *d, const char *name,
				    const struct pd_source_limits *l, struct pd_error *e);
/* Opens the file with the header, `data`. */
struct pd_source *pd_directory_open_main(const struct pd_directory *d,
					 const struct pd_source_limits *l, struct pd_error *e);

#endif
