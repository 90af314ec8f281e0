/* buildid.h - which files the samples hit, and their build ids. */
#ifndef RECORD_BUILDID_H
#define RECORD_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/write.h"

#define BUILDID_MAX 20

struct deadline;
struct hits;

struct buildid {
	uint8_t data[BUILDID_MAX];
	uint8_t size;			/* 0: none */
};

/* From the notes of a regular ELF file, within a budget. False: it has none, or can't be read. */
bool buildid_of_fd(int fd, struct buildid *out);
bool buildid_of_path(const char *path, struct buildid *out);
/* Of the running kernel and of the vdso that it maps. */
bool buildid_of_kernel(struct buildid *out);
bool buildid_of_vdso(struct buildid *out);
/* Of a module that is loaded, by its name in /proc/modules. */
bool buildid_of_module(const char *name, struct buildid *out);

enum buildid_which {
	BUILDID_NONE,			/* only count the samples (-B) */
	BUILDID_HIT,			/* files that a sample or a callchain points into */
	BUILDID_ALL,			/* every file that was mapped (--buildid-all) */
};

struct buildid_summary {
	uint64_t samples, first, last;	/* ns; 0 where there were none */
	uint64_t lost, lost_records;	/* what LOST records say, and how many there are */
	size_t files;			/* with a build id */
	bool cut;			/* the deadline was over before all were looked at */
};

/* Reads back what was recorded and writes feature BUILD_ID. fd: the output, of which everything was
 * flushed; it is opened anew for reading, so its position stays. 0, or -1 and *e when writing
 * failed; what can't be read back is left out. The deadline is for the files, its `hurry` for all. */
int buildid_feature(struct pd_writer *w, int fd, enum buildid_which which,
		    const struct deadline *deadline, struct buildid_summary *out, struct pd_error *e);
/* The same of what is known already; out->files is set. */
int buildid_feature_of(struct pd_writer *w, const struct hits *h, enum buildid_which which,
		       const struct deadline *deadline, struct buildid_summary *out, struct pd_error *e);
/* The same for a directory or a file by name. */
int buildid_feature_path(struct pd_writer *w, const char *path, enum buildid_which which,
			 const struct deadline *deadline, struct buildid_summary *out, struct pd_error *e);
/* Counts the samples of a recording that is not finished, as far as it can be read. */
void buildid_count(const char *path, const bool *hurry, struct buildid_summary *out);

#endif
