/* images.h - holds the files of programs that were started and of libraries that were mapped: what
 * builds, unpacks or runs them often removes them, or builds them again at the same path, before
 * the recording ends.
 *
 * A descriptor keeps the file system in use, and the space of a file that was removed. So only
 * files on file systems are held that are in use anyway, and those of memfd_create(2). Libraries of
 * the system are not held: only an upgrade replaces them.
 */
#ifndef RECORD_IMAGES_H
#define RECORD_IMAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/held_files.h"

struct image_hold {
	int fd;
	struct stat was;		/* when it was started or mapped */
	pid_t pid;			/* the process that mapped it last */
	uint64_t alive;			/* ms, when that was seen to run */
};

enum { IMAGE_MOUNTS = 3 };

/* A file that a process mapped, as its MMAP2 record has it. */
struct image_map {
	pid_t pid;
	uint64_t address, size, ino;
	const char *path;
};

/* Until when images are held: 10 s after the last process that mapped them, or the end of the
 * recording, for those of a command, which ends with it. */
enum images_kept { IMAGES_WHILE_MAPPED, IMAGES_TO_THE_END };

/* Empty if zeroed. */
struct images {
	struct image_hold holds[HELD_IMAGES_MOST];
	size_t n;
	int mounts[IMAGE_MOUNTS];
	size_t nr_mounts;
	enum images_kept kept;
};

void images_start(struct images *p, enum images_kept kept);
/* Holds the program that a process runs. */
void images_hold_program(struct images *p, pid_t pid);
/* Holds a file that it mapped, unless that is the system's or none. */
void images_hold_mapped(struct images *p, const struct image_map *map);
/* Lets go of what no process had for 10 s. now: ms. */
void images_age(struct images *p, uint64_t now);
/* Adds those that are as they were when they were started or mapped. */
void images_list(const struct images *p, struct held_files *out);
void images_close(struct images *p);

#endif
