/* tempfile.c - an unlinked temporary file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* O_TMPFILE, mkostemp, secure_getenv, fallocate */
#endif
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_error(struct pd_error *e, enum pd_code code, int errno_value)
{
	*e = (struct pd_error){
		.code = code, .severity = PD_FATAL, .have = (uint64_t)errno_value,
	};
	return -1;
}

static int open_in(const char *dir)
{
	static const char name[] = "/pd-XXXXXX";	/* the template of mkostemp() */
	char path[PATH_MAX];
	size_t n = strlen(dir);
	int fd;

	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0)
		return fd;
	if (n > sizeof(path) - sizeof(name))
		return -1;
	memcpy(path, dir, n);
	memcpy(path + n, name, sizeof(name));
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int pd_tempfile_open(struct pd_tempfile *s, uint64_t limit, struct pd_error *e)
{
	const char *dirs[] = { secure_getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };

	*s = (struct pd_tempfile){ .fd = -1, .limit = limit < INT64_MAX ? limit : INT64_MAX };
	for (size_t i = 0; s->fd < 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i] && dirs[i][0])
			s->fd = open_in(dirs[i]);
	return s->fd < 0 ? set_error(e, PD_E_IO, errno) : 0;
}

int pd_tempfile_append(struct pd_tempfile *s, const void *p, size_t n, struct pd_error *e)
{
	uint64_t at = s->size;
	uint64_t used = s->size - s->discarded;

	if (n > s->limit || used > s->limit - n) {
		set_error(e, PD_E_LIMIT, 0);
		e->want = n;
		e->have = s->limit - used;
		return -1;
	}
	for (const uint8_t *from = p; n;) {
		ssize_t done = pwrite(s->fd, from, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return set_error(e, PD_E_IO, done ? errno : ENOSPC);
		from += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	s->size = at;
	return 0;
}

int pd_tempfile_read(const struct pd_tempfile *s, uint64_t offset, void *p, size_t n,
		     struct pd_error *e)
{
	for (uint8_t *to = p; n;) {
		ssize_t done = pread(s->fd, to, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return set_error(e, PD_E_IO, done ? errno : EIO);
		to += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

void pd_tempfile_discard(struct pd_tempfile *s, uint64_t offset, uint64_t n)
{
	int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	/* Where this is not supported, the space is freed at the close. */
	if (n && !fallocate(s->fd, how, (off_t)offset, (off_t)n))
		s->discarded += n;
}

void pd_tempfile_truncate(struct pd_tempfile *s, uint64_t size)
{
	if (size >= s->size || ftruncate(s->fd, (off_t)size))
		return;
	s->size = size;
	if (s->discarded > size)
		s->discarded = size;
}

void pd_tempfile_close(struct pd_tempfile *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
