/* images.h - holds the files of programs that were started: what builds and runs a program often
 * removes it, or builds it again at the same path, before the recording ends.
 *
 * A descriptor keeps the file system in use, and the space of a file that was removed. So only
 * programs on file systems are held that are in use anyway, and those of memfd_create(2).
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
	struct stat was;		/* when it was started */
	pid_t pid;			/* the process that ran it last */
	uint64_t alive;			/* ms, when that was seen to run */
};

enum { IMAGE_MOUNTS = 3 };

/* Until when programs are held: 10 s after the last process that ran them, or the end of the
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
void images_hold(struct images *p, pid_t pid);
/* Lets go of what no process had for 10 s. now: ms. */
void images_age(struct images *p, uint64_t now);
/* Adds those that are as they were when they were started. */
void images_list(const struct images *p, struct held_files *out);
void images_close(struct images *p);

#endif
