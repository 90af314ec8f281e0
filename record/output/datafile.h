/* datafile.h - the output: which file, when the next one begins, and its writer.
 *
 * The recorder may run as root where others can write: it writes only to what it made itself, to a file of its own, or
 * to a FIFO or device that was named and is the caller's or root's.
 */
#ifndef RECORD_DATAFILE_H
#define RECORD_DATAFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "base/options.h"
#include "buildid/buildid_scan.h"
#include "capture/ring.h"
#include "event/event.h"
#include "output_place.h"
#include "pd/write.h"

struct datafile {
	char base[PATH_MAX];		/* as asked for; "-": stdout; may be a FIFO */
	char path[PATH_MAX];		/* as it is called now, for messages */
	struct place place;		/* of base; none: a stream */
	char name[NAME_MAX + 1];	/* of path, in the place's directory */
	int directory;			/* the recording, where it is one; -1: it is a file */
	enum pd_mode mode;
	bool in_directory;		/* --threads, --kcore */
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
	uint64_t readable;		/* bytes of all its files that can be read, once `failed` */
	uint64_t not_written;		/* bytes that were taken from the buffers for it */
	struct timeval next_stamp;	/* the first that the name of a file may have */
	uint64_t *auxtraces;		/* where these records lie in it */
	size_t nr_auxtraces;
	char **kept;			/* files that were switched from, oldest first */
	size_t nr_kept;
};

#define DATAFILE_CLOSED { .fd = -1, .directory = -1, .place = PLACE_NONE }

/* By -o, -z and what stdout is. 0; or an exit status after saying what is wrong. */
int datafile_choose(struct datafile *f, const struct settings *o, const struct logger *s);

/* Keeps an older file as FILE.old, and opens a writer. 0; or an exit status, said. */
int datafile_open(struct datafile *f, const struct logger *s);
/* Creates a file with a name of up to 31 bytes, of the user's; a descriptor, or -1 and errno. */
int datafile_create(int directory, const char *name);
/* The same for a directory in that of the recording. */
int datafile_create_directory(const struct datafile *f, const char *name);
/* A new data.N of the directory: a descriptor, or -1 and errno. */
int datafile_open_part(const struct datafile *f, size_t n);

/* Adds an event to a writer that has not begun. 0, or -1 and *e. */
int datafile_add_event(struct pd_writer *w, const struct event *e, const uint64_t *ids, size_t n,
		       struct pd_error *error);

/* The events are added: records may come. 0, or -1 and f->error. */
int datafile_begin(struct datafile *f);

/* Appends the time to the name of the file. 0; or an exit status, said. */
int datafile_stamp(struct datafile *f, const struct logger *s);
/* Removes the file: there is nothing in it. */
void datafile_remove(const struct datafile *f);
/* Remembers the file, and removes the oldest when there are more than `most` (0: no limit). */
void datafile_keep(struct datafile *f, uint64_t most);

/* Says what `error` holds and notes the failure; the exit status for it. Nothing is said where
 * nobody reads any more. */
int datafile_failed(struct datafile *f, const struct logger *s);
/* The reader of the stream went away. */
bool datafile_is_unread(const struct datafile *f);

/* After datafile_failed() or a failed thread: a writer of this output ends with what reached the disk. */
void datafile_abort(struct datafile *f, struct pd_writer *w);
/* Reports what of the recording is there and what is not; less exactly once *hurry. */
void datafile_report_loss(struct datafile *f, const bool *hurry, const struct logger *s);

/* Closes, without finishing the writer. 0; or an exit status, said. */
int datafile_close(struct datafile *f, const struct logger *s);
void datafile_free(struct datafile *f);

#endif
