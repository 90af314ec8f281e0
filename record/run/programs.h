/* programs.h - holds the files of programs that were started: what builds and runs a program often
 * removes it, or builds it again at the same path, before the recording ends.
 *
 * A descriptor keeps the file system in use, and the space of a file that was removed. So only
 * programs on file systems are held that are in use anyway, and those of memfd_create(2).
 */
#ifndef RECORD_PROGRAMS_H
#define RECORD_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/held_files.h"

struct program_hold {
	int fd;
	struct stat was;		/* when it was started */
	pid_t pid;			/* the process that ran it last */
	uint64_t alive;			/* ms, when that was seen to run */
};

enum { PROGRAM_MOUNTS = 3 };

/* Until when programs are held: 10 s after the last process that ran them, or the end of the
 * recording, for those of a command, which ends with it. */
enum programs_kept { PROGRAMS_WHILE_RUN, PROGRAMS_TO_THE_END };

/* Empty if zeroed. */
struct programs {
	struct program_hold holds[HELD_PROGRAMS_MOST];
	size_t n;
	int mounts[PROGRAM_MOUNTS];
	size_t nr_mounts;
	enum programs_kept kept;
};

void programs_start(struct programs *p, enum programs_kept kept);
/* Holds the program that a process runs. */
void programs_hold(struct programs *p, pid_t pid);
/* Lets go of what no process had for 10 s. now: ms. */
void programs_age(struct programs *p, uint64_t now);
/* Adds those that are as they were when they were started. */
void programs_list(const struct programs *p, struct held_files *out);
void programs_close(struct programs *p);

#endif
