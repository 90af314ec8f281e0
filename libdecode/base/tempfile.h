/* tempfile.h - an unlinked temporary file for bytes that do not fit in memory; no other user can
 * open it. */
#ifndef PD_BASE_TEMPFILE_H
#define PD_BASE_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "pd/error.h"

struct pd_tempfile {
	int fd;
	uint64_t size;		/* the next append goes here */
	uint64_t discarded;	/* bytes that were discarded */
	uint64_t limit;		/* for the bytes that were not discarded */
};

/* Creates the file in $TMPDIR, /tmp, /var/tmp or /dev/shm, whichever works first. Returns 0, or -1;
 * *s then needs no close. */
int pd_tempfile_open(struct pd_tempfile *s, uint64_t limit, struct pd_error *e);

/* Appends all n bytes. Returns 0, or -1 and *e: PD_E_LIMIT past the limit, else PD_E_IO; the size
 * is then unchanged. */
int pd_tempfile_append(struct pd_tempfile *s, const void *p, size_t n, struct pd_error *e);

/* Reads exactly n bytes at `offset`. Returns 0, or -1 if they are not there. */
int pd_tempfile_read(const struct pd_tempfile *s, uint64_t offset, void *p, size_t n,
		     struct pd_error *e);

/* Frees the disk space of bytes that will not be read again, if the file system can. */
void pd_tempfile_discard(struct pd_tempfile *s, uint64_t offset, uint64_t n);

/* Truncates the file; later appends go to the new end. */
void pd_tempfile_truncate(struct pd_tempfile *s, uint64_t size);

void pd_tempfile_close(struct pd_tempfile *s);

#endif
