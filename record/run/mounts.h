/* mounts.h - holds mount namespaces, root directories, programs and libraries of processes that may
 * end before the recording does: the files that they mapped are read at its end.
 *
 * A descriptor of a namespace keeps its mounts, and so the devices, in use.
 */
#ifndef RECORD_MOUNTS_H
#define RECORD_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/held_files.h"
#include "capture/ring.h"
#include "run/images.h"
#include "run/jit_copies.h"
#include "run/refusals.h"
#include "run/strangers.h"
#include "target/target.h"

/* A mount namespace and a directory in it. */
struct mount_root {
	uint64_t ns_dev, ns_ino, dev, ino;
};

struct mount_hold {
	struct mount_root what;
	int ns, root;			/* descriptors; ns -1: the recorder's own namespace */
	pid_t pid;			/* the process that had it last */
	uint64_t alive;			/* ms, when that was seen to run */
};

struct mounts {
	struct mount_root own;
	struct mount_hold holds[HELD_ROOTS_MOST];
	size_t n;
	struct strangers strangers;
	struct jit_copies copies;
	bool notes_refusals;		/* the counters are of tasks: the kernel may end them */
	struct refusals refusals;
	struct images images;
	int *counters;			/* whose COMM, FORK, EXIT and MMAP2 records are read */
	size_t nr_counters;
	struct ring *rings;		/* of each CPU's counters */
	size_t nr_rings;
	int epoll;			/* readable when there may be any; -1: no counters */
	uint64_t checked;		/* ms, when the holds were */
};

#define MOUNTS_NONE { .copies = JIT_COPIES_NONE, .epoll = -1 }

/* Holds what processes of the target have now, and opens counters that tell when others start a
 * program or map a file, if the kernel allows it. */
void mounts_start(struct mounts *m, const struct target *t);
/* Holds what the programs have that were started, and the files that were mapped, since the last
 * call. */
void mounts_look(struct mounts *m);
/* Lets go of what no process had for 10 s. Call it often. */
void mounts_age(struct mounts *m);
/* Stores the directories and images, borrowed until the next call of another function. */
void mounts_files(const struct mounts *m, struct held_files *out);
void mounts_close(struct mounts *m);

#endif
