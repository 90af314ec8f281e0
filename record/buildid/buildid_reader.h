/* buildid_reader.h - a process that reads build ids, and what it did not answer for. */
#ifndef RECORD_BUILDID_READER_H
#define RECORD_BUILDID_READER_H

#include "base/deadline.h"
#include "base/held_files.h"
#include "buildid/buildid.h"

/* Where a file may be: at one of these paths. */
struct buildid_place {
	const char *paths[2];		/* the second, which the process knew, may be NULL */
	uint64_t ino;			/* of the file that was mapped; 0: unknown */
	uint32_t maj, min;		/* its device */
	uint64_t changed_by;		/* it was not changed later, wall clock, ns; 0: unknown */
};

struct buildid_reader;

/* held: what files may be that are at none of their paths, and where else they may be; may be NULL.
 * Returns NULL without memory. */
struct buildid_reader *buildid_reader_new(const struct held_files *held);
void buildid_reader_free(struct buildid_reader *r);	/* NULL is fine */

enum buildid_result {
	BUILDID_FOUND,
	BUILDID_ABSENT,			/* it has none, or there is no such file */
	BUILDID_REPLACED,		/* another file is there, or it was changed */
	BUILDID_SILENT,			/* its file system does not answer */
	BUILDID_UNREAD,			/* the deadline passed, or nobody can be asked */
};

/* Reads the build id of a file. */
enum buildid_result buildid_read(struct buildid_reader *r, const struct buildid_place *place,
				 const struct deadline *deadline, struct buildid *out);

#endif
