/* output_place.h - the place of an output, in directories where other users can plant links, FIFOs
 * and files.
 *
 * A place is a directory's descriptor and a name in it, so later changes of the path have no
 * effect. A link is followed only in a directory that nobody but root and the caller can write to.
 * Elsewhere the link itself is the place, to be replaced.
 */
#ifndef PD_TOOLS_OUTPUT_PLACE_H
#define PD_TOOLS_OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir;	/* O_PATH; -1: none */
	char *name;	/* in that directory */
	/* a link that may be followed to an object without a path: /dev/stdout, /dev/fd/63 */
	bool follow;
};

#define PLACE_NONE { .dir = -1 }

/* Resolves `path` and the links in it; the file need not exist. Returns 0 or an errno. */
int output_place_open(struct place *p, const char *path);
void output_place_close(struct place *p);
/* Like fstatat(2); a link that must not be followed is itself described. Returns 0, or -1 and
 * errno. */
int output_place_stat(const struct place *p, struct stat *st);
/* Like openat(2); fails with ELOOP at a link that must not be followed. */
int output_place_open_file(const struct place *p, int flags, mode_t mode);

/* Returns whether uid is the caller, root, or, as root, the user who called sudo. */
bool owner_is_trusted(uid_t uid);
/* Returns whether it is a regular file without other names, of the caller or of the user who called
 * sudo: writing to it changes nobody else's file. */
bool is_own_file(const struct stat *st);
/* Returns false unless root runs on behalf of a user of sudo. */
bool sudo_user(uid_t *uid, gid_t *gid);

#endif
