/* directory.h - a directory of perf record --threads: the file `data` and beside it data.0, data.1, ..., one for each thread. */
#ifndef PD_INPUT_DIRECTORY_H
#define PD_INPUT_DIRECTORY_H

#include <dirent.h>

#include "input/source.h"

#define PD_DIRECTORY_FIRST "data.0"

struct pd_directory {
	DIR *dir;
	char **files;		/* data.N: names, by N */
	size_t nr_files;
	char **missing;		/* those that are not there, though larger numbers are: recorders leave none out */
	size_t nr_missing;
};

/* 0, or -1 with errno; to be freed in any case. */
int pd_directory_list(struct pd_directory *d, const char *path);
void pd_directory_free(struct pd_directory *d);

/* A regular file of the directory itself. NULL and *e on failure, also for a link, a FIFO or a device: it never waits. */
struct pd_source *pd_directory_open(const struct pd_directory *d, const char *name, const struct pd_source_limits *l,
				    struct pd_error *e);
/* The one that speaks of the others. */
struct pd_source *pd_directory_open_main(const struct pd_directory *d, const struct pd_source_limits *l,
					 struct pd_error *e);

#endif
