/* tempfile.h - an unlinked temporary file: bytes that don't fit in memory and nobody else can see. */
#ifndef PD_INPUT_TEMPFILE_H
#define PD_INPUT_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "pd/error.h"

struct pd_tempfile {
	int fd;
	uint64_t size;		/* where the next append goes */
	uint64_t discarded;	/* bytes of it that take no space any more */
	uint64_t limit;		/* for the others */
};

/* In $TMPDIR, /tmp, /var/tmp or /dev/shm, whichever works first. 0, or -1 and *s needs no close. */
int pd_tempfile_open(struct pd_tempfile *s, uint64_t limit, struct pd_error *e);

/* All of it or -1: PD_E_LIMIT past the limit, PD_E_IO otherwise. After -1 the size is as before. */
int pd_tempfile_append(struct pd_tempfile *s, const void *p, size_t n, struct pd_error *e);

/* Exactly n bytes from offset; -1 when they aren't there. */
int pd_tempfile_read(const struct pd_tempfile *s, uint64_t offset, void *p, size_t n,
		     struct pd_error *e);

/* Gives the disk space of bytes nobody reads again back, where the file system can. */
void pd_tempfile_discard(struct pd_tempfile *s, uint64_t offset, uint64_t n);

/* Cuts the file; later appends go behind size. */
void pd_tempfile_truncate(struct pd_tempfile *s, uint64_t size);

void pd_tempfile_close(struct pd_tempfile *s);

#endif
