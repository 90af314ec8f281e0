/* file_bytes.h - the bytes of a regular file, mapped where that is safe, else read. */
#ifndef PS_IMAGE_FILE_BYTES_H
#define PS_IMAGE_FILE_BYTES_H

#include "base/buf.h"
#include "image/status.h"

struct ps_file_bytes {
	struct pd_bytes bytes;
	struct pd_budget *budget;	/* charged for the bytes; NULL: they are mapped */
};

/* Maps a file that only root or the process's user can write, reads any other. The position of the
 * descriptor is not used; it may be closed afterwards. */
enum ps_status ps_file_bytes_open(struct ps_file_bytes *f, int fd, struct pd_budget *budget);
void ps_file_bytes_close(struct ps_file_bytes *f);

/* Reads a file to its end, from the descriptor's position, into `out`, which has a budget: for
 * files of /proc, which state no size, and for those that others may still write. */
enum ps_status ps_file_read_all(int fd, struct pd_buf *out);

#endif
