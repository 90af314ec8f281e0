/* buildid_hits.h - which files were mapped where, which pages were hit.
 *
 * Put together at the end, so that the order of the records does not matter: cpus' buffers lie one
 * after another in a file, each by its own time.
 */
#ifndef RECORD_BUILDID_HITS_H
#define RECORD_BUILDID_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buildid/buildid.h"

#define HITS_KERNEL -1		/* the process of the kernel's own maps */

struct hits_file {
	char *name;
	uint64_t ino;
	uint32_t maj, min;
	int32_t pid;			/* the first that mapped it */
	bool kernel, hit;
	struct buildid id;		/* where the kernel said it in the map */
	struct hits_file *next;		/* in its bucket */
};

struct hits_map {
	uint64_t start, end;
	struct hits_file *file;
};

struct hits;

struct hits *hits_new(void);	/* NULL: no memory */
void hits_free(struct hits *h);	/* NULL is fine */

/* What tells files apart: name (size bytes) and inode. */
struct hits_key {
	const char *name;
	size_t size;
	uint64_t ino;
	uint32_t maj, min;
};

/* Made at the first call; NULL: no memory. */
struct hits_file *hits_file(struct hits *h, const struct hits_key *key);
int hits_map(struct hits *h, int32_t pid, const struct hits_map *map);
int hits_fork(struct hits *h, int32_t parent, int32_t child);
int hits_address(struct hits *h, int32_t pid, uint64_t address);

/* Sets `hit` of the files behind the addresses seen so far. */
void hits_resolve(struct hits *h);
/* The i-th file in the order they came, NULL behind the last. */
struct hits_file *hits_file_at(const struct hits *h, size_t i);

#endif
