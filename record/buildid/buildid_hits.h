/* buildid_hits.h - find the files that samples hit, from maps and addresses.
 *
 * Addresses are resolved at the end, as records are not sorted by time: a file has the buffers of
 * the CPUs one after the other.
 */
#ifndef RECORD_BUILDID_HITS_H
#define RECORD_BUILDID_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buildid/buildid.h"

#define HITS_KERNEL -1		/* the pid of maps of the kernel */

struct hits_file {
	char *name;
	uint64_t ino;
	uint32_t maj, min;
	int32_t pid;			/* of the first process that mapped it */
	bool kernel, hit, mapped;
	uint64_t mapped_at;		/* time of the first map, ns; 0: before the recording.
					 * Set by hits_resolve(), as is `mapped` */
	struct buildid id;		/* if the MMAP2 record has it */
	struct hits_file *next;		/* in the same bucket */
};

struct hits_map {
	uint64_t start, end;
	uint64_t time;			/* ns; 0: synthesized */
	struct hits_file *file;
};

struct hits;

struct hits *hits_new(void);	/* NULL: no memory */
void hits_free(struct hits *h);	/* NULL is fine */

/* The identity of a file: name (size bytes) and inode. */
struct hits_key {
	const char *name;
	size_t size;
	uint64_t ino;
	uint32_t maj, min;
};

/* Returns the file, added if it is new; NULL without memory. The others return 0, or -1 without
 * memory. */
struct hits_file *hits_file(struct hits *h, const struct hits_key *key);
int hits_map(struct hits *h, int32_t pid, const struct hits_map *map);
int hits_fork(struct hits *h, int32_t parent, int32_t child);
int hits_address(struct hits *h, int32_t pid, uint64_t address);

/* Sets `hit` of the files at the addresses so far, and when files were mapped. Returns 0, or -1
 * without memory: then some lack it. */
int hits_resolve(struct hits *h);
/* Returns the i-th file in the order of addition, NULL after the last. */
struct hits_file *hits_file_at(const struct hits *h, size_t i);

#endif
