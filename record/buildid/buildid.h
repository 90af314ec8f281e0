/* buildid.h - build ids of files, and feature BUILD_ID for the files that samples hit. */
#ifndef RECORD_BUILDID_H
#define RECORD_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_names.h"
#include "pd/write.h"

#define BUILDID_MAX 20

struct deadline;
struct held_files;
struct hits;

struct buildid {
	uint8_t data[BUILDID_MAX];
	uint8_t size;			/* 0: none */
	bool lacks_memory;		/* there was too little to look for it */
};

/* Reads the build id from the notes of a regular ELF file, within a budget. Returns false if it has
 * none or can't be read. */
bool buildid_of_fd(int fd, struct buildid *out);
/* Read the build id of the running kernel, and of the vdso that it maps. */
bool buildid_of_kernel(struct buildid *out);
bool buildid_of_vdso(struct buildid *out);
/* Reads the build id of a loaded module, by its name in /proc/modules. */
bool buildid_of_module(const char *name, struct buildid *out);

enum buildid_which {
	BUILDID_NONE,			/* only count the samples (-B) */
	BUILDID_HIT,			/* files that a sample or a callchain points into */
	BUILDID_ALL,			/* every file that was mapped (--buildid-all) */
};

struct buildid_summary {
	uint64_t samples, first, last;	/* ns; 0 without samples */
	uint64_t lost, lost_records;	/* sum of LOST records; their number */
	size_t files;			/* with a build id */
	bool cut;			/* the deadline passed: files are missing */
	bool unread;			/* records were not, for lack of memory or of access:
					 * build ids, times or counts are missing */
	struct file_names silent;	/* the caller's to free, like the next */
	struct file_names replaced;	/* their paths have other files now */
};

/* Which build ids are read. */
struct buildid_request {
	enum buildid_which which;
	const struct deadline *deadline;	/* limits reading files, its `hurry` also reading
						 * the recording back */
	/* The same moment on the clock of the records and the wall clock, ns; 0: not known */
	uint64_t now, wall;
	const struct held_files *held;	/* of processes that have ended; may be NULL */
};

/* Reads the recording back and writes feature BUILD_ID. fd: the output; everything must be flushed;
 * it is opened again for reading, so its position does not change. Returns 0, or -1 and *e if
 * writing failed; what can't be read back is left out. */
int buildid_feature(struct pd_writer *w, int fd, const struct buildid_request *what,
		    struct buildid_summary *out, struct pd_error *e);
/* Writes the feature for known hits; sets out->files. */
int buildid_feature_of(struct pd_writer *w, const struct hits *h,
		       const struct buildid_request *what, struct buildid_summary *out,
		       struct pd_error *e);
/* As buildid_feature(), for a directory or a file by name. */
int buildid_feature_path(struct pd_writer *w, const char *path,
			 const struct buildid_request *what, struct buildid_summary *out,
			 struct pd_error *e);
/* As buildid_feature_path(), but writes nothing: for `silent` and `replaced`. */
void buildid_check(const char *path, const struct buildid_request *what,
		   struct buildid_summary *out);
/* Counts the samples of an unfinished recording, as far as it can be read. */
void buildid_count(const char *path, const bool *hurry, struct buildid_summary *out);

#endif
