/* image_path.h - the images of a history by their paths, for names that the recording has. */
#ifndef PS_SESSION_IMAGE_PATH_H
#define PS_SESSION_IMAGE_PATH_H

#include "session/session.h"

struct ps_image_path {
	struct pd_bytes path;
	uint64_t ino;			/* 0: unknown */
	const struct pd_image *image;
};

/* For qsort(3) and bsearch(3): by path, and by path and inode. */
int ps_compare_paths(const void *a, const void *b);
int ps_compare_image_paths(const void *a, const void *b);

/* Returns the images in order, but for those of virtual machines, and sets *n. NULL without memory.
 * Free it with ps_free_image_paths(). */
struct ps_image_path *ps_image_paths(struct ps_session *s, size_t *n);
void ps_free_image_paths(struct ps_session *s, struct ps_image_path *paths);

#endif
