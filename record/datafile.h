/* datafile.h - the output: which file, when it is begun anew, and its writer. */
#ifndef RECORD_DATAFILE_H
#define RECORD_DATAFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buildid_scan.h"
#include "event.h"
#include "options.h"
#include "pd/write.h"
#include "ring.h"

struct datafile {
	const char *base;		/* as asked for; "-": stdout; may be a FIFO */
	char path[PATH_MAX];		/* as it is called now */
	enum pd_mode mode;
	int compress;			/* zstd level, 0: none */
	enum pd_write_by by;
	int fd;				/* -1: not open */
	struct pd_writer *writer;
	struct tally tally;		/* of this file */
	uint64_t parts;			/* bytes of data.N in the directory */
	enum buildid_which which;
	bool read_back;			/* at the end, or looked at by `watch`: drained records are not counted */
	struct buildid_watch *watch;	/* of what is compressed; NULL: none */
	uint64_t unfinished;		/* bytes since the last FINISHED_ROUND */
	struct pd_error error;		/* of the writer's call that failed, once `failed` */
	bool failed;
	uint64_t *auxtraces;		/* where these records lie in it */
	size_t nr_auxtraces;
	char **kept;			/* files that were switched from, oldest first */
	size_t nr_kept;
};

#define DATAFILE_CLOSED { .fd = -1 }

/* By -o, -z and what stdout is. 0; or an exit status after saying what is wrong. */
int datafile_choose(struct datafile *f, const struct settings *o, const struct say *s);

/* Keeps an older file as FILE.old, and opens a writer. 0; or an exit status, said. */
int datafile_open(struct datafile *f, const struct say *s);
/* A new data.N of the directory: a descriptor, or -1 and errno. */
int datafile_open_part(const struct datafile *f, size_t n);

/* Adds an event to a writer that has not begun. 0, or -1 and *e. */
int datafile_add_event(struct pd_writer *w, const struct event *e, const uint64_t *ids, size_t n,
		       struct pd_error *error);

/* The events are added: records may come. 0, or -1 and f->error. */
int datafile_begin(struct datafile *f);

/* Appends the time to the name of the file. 0; or an exit status, said. */
int datafile_stamp(struct datafile *f, const struct say *s);
/* Remembers the file, and removes the oldest when there are more than `most` (0: no limit). */
void datafile_keep(struct datafile *f, uint64_t most);

/* Says what `error` holds and notes the failure; the exit status for it. Nothing is said where
 * nobody reads any more. */
int datafile_failed(struct datafile *f, const struct say *s);

/* Closes, without finishing the writer. 0; or an exit status, said. */
int datafile_close(struct datafile *f, const struct say *s);
void datafile_free(struct datafile *f);

#endif
