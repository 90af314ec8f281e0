/* datafile.h - the output: its file or directory, and the writer.
 *
 * The recorder may run as root in directories that others can write: it writes only to files that
 * it created or owns, and to FIFOs and devices that were named and belong to the caller or root.
 */
#ifndef RECORD_DATAFILE_H
#define RECORD_DATAFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "base/options.h"
#include "buildid/buildid_watch.h"
#include "capture/ring.h"
#include "event/event.h"
#include "output/symbols_file.h"
#include "files/output_place.h"
#include "pd/write.h"

struct datafile {
	char base[PATH_MAX];		/* the name given; "-": stdout; may be a FIFO */
	char path[PATH_MAX];		/* the current name, for messages */
	struct place place;		/* directory and name of base; none: a stream */
	char name[NAME_MAX + 1];	/* the last component of path */
	int directory;			/* of the recording; -1: it is a file */
	enum pd_mode mode;
	bool in_directory;		/* --threads, --kcore */
	int compress;			/* zstd level, 0: none */
	enum pd_write_by by;
	int fd;				/* -1: not open */
	struct pd_writer *writer;
	struct drain_totals totals;	/* of this file */
	uint64_t parts;			/* bytes of data.N in the directory */
	enum buildid_which which;
	bool read_back;			/* samples are counted at the end or by `watch` */
	struct symbols_file symbols;	/* of a stream */
	struct buildid_watch *watch;	/* sees records before they are compressed; NULL: none */
	uint64_t header_size;		/* before the records */
	uint64_t unfinished;		/* bytes since the last FINISHED_ROUND */
	struct pd_error error;		/* of the writer's call that failed, once `failed` */
	bool failed;
	bool no_features;		/* the file with the header was aborted */
	uint64_t readable;		/* bytes of all its files that can be read, once `failed` */
	uint64_t not_written;		/* bytes drained but lost */
	struct timeval next_stamp;	/* the earliest time for the next file name */
	uint64_t *auxtraces;		/* offsets of these records */
	size_t nr_auxtraces;
	char **kept;			/* names of rotated files, oldest first */
	size_t nr_kept;
};

#define DATAFILE_CLOSED { .fd = -1, .directory = -1, .place = PLACE_NONE, \
			  .symbols = SYMBOLS_FILE_CLOSED }

/* Chooses the output by -o, -z and the type of stdout. Returns 0, or an exit status after logging
 * the error. */
int datafile_choose(struct datafile *f, const struct settings *o, const struct logger *s);

/* Keeps an older file as FILE.old, and opens a writer. Returns 0, or an exit status after logging
 * the error. */
int datafile_open(struct datafile *f, const struct logger *s);
/* Creates a file with a name of up to 31 bytes; under sudo, the calling user owns it. Returns a
 * descriptor, or -1 and errno. */
int datafile_create(int directory, const char *name);
/* Creates a directory in that of the recording likewise. */
int datafile_create_directory(const struct datafile *f, const char *name);
/* Creates data.N in the directory. Returns a descriptor, or -1 and errno. */
int datafile_open_part(const struct datafile *f, size_t n);

/* Adds an event. Must be called before pd_writer_begin(). Returns 0, or -1 and *error. */
int datafile_add_event(struct pd_writer *w, const struct event *e, const uint64_t *ids, size_t n,
		       struct pd_error *error);

/* Must be called after the events were added and before the first record. Returns 0, or -1 and
 * f->error. */
int datafile_begin(struct datafile *f);

/* Appends the time to the name of the file. Returns 0, or an exit status after logging the
 * error. */
int datafile_stamp(struct datafile *f, const struct logger *s);
/* Removes the file, which has no records. */
void datafile_remove(const struct datafile *f);
/* Adds the file to the rotated ones; removes the oldest if there are more than `most` (0: no
 * limit). */
void datafile_keep(struct datafile *f, uint64_t most);

/* Sets `failed`, logs `error`, unless the reader of a stream went away, and returns the exit
 * status. */
int datafile_failed(struct datafile *f, const struct logger *s);
/* Returns whether the reader of the stream went away. */
bool datafile_is_unread(const struct datafile *f);

/* After an error: ends a writer of this output with what reached the disk. */
void datafile_abort(struct datafile *f, struct pd_writer *w);
/* Logs how much of the recording was saved and lost; less exactly once *hurry is set. */
void datafile_report_loss(struct datafile *f, const bool *hurry, const struct logger *s);

/* Closes the file without finishing the writer. Returns 0, or an exit status after logging the
 * error. */
int datafile_close(struct datafile *f, const struct logger *s);
void datafile_free(struct datafile *f);

#endif
