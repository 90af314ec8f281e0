/* output_place.h - where an output may go, in directories where other users can plant links, FIFOs and files.
 *
 * A place is a directory's descriptor and a name in it, so a path that changes afterwards changes nothing. A link is
 * followed only where nobody but root and the caller can have made it: in a directory that only they can write to.
 * Everywhere else it stands for itself, to be replaced.
 */
#ifndef PD_TOOLS_OUTPUT_PLACE_H
#define PD_TOOLS_OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir;	/* O_PATH; -1: none */
	char *name;	/* in it */
	bool follow;	/* a link that may be followed, to something without a path: /dev/stdout, /dev/fd/63 */
};

#define PLACE_NONE { .dir = -1 }

/* Where `path` or the links there lead, whether it exists or not. 0, or an errno. */
int output_place_open(struct place *p, const char *path);
void output_place_close(struct place *p);
/* What is there: a link that may not be followed is a link. 0, or -1 and errno. */
int output_place_stat(const struct place *p, struct stat *st);
/* open(2) there; ELOOP at a link that may not be followed. */
int output_place_open_file(const struct place *p, int flags, mode_t mode);

/* The caller, root, or, as root, the user who called sudo. */
bool owner_is_trusted(uid_t uid);
/* A regular file of the caller's, or of the user who called sudo, without another name: writing to it changes nobody
 * else's. */
bool is_own_file(const struct stat *st);
/* The user of sudo, where root runs on behalf of one. */
bool sudo_user(uid_t *uid, gid_t *gid);

#endif
