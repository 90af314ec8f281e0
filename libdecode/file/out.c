/* out.c - a descriptor to write to. */
#include "file/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pd_out_init(struct pd_out *o, int fd)
{
	*o = (struct pd_out){ .fd = fd, .buffer = malloc(PD_OUT_BUFFER) };
	return o->buffer ? 0 : -1;
}

void pd_out_free(struct pd_out *o)
{
	free(o->buffer);
	o->buffer = NULL;
}

static int write_all(struct pd_out *o, const uint8_t *p, size_t n)
{
	while (n && !o->failed) {
		ssize_t got = write(o->fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			o->failed = errno;
			break;
		}
		p += got;
		n -= (size_t)got;
	}
	return o->failed;
}

int pd_out_flush(struct pd_out *o)
{
	size_t n = o->used;

	o->used = 0;
	return write_all(o, o->buffer, n);
}

int pd_out_append(struct pd_out *o, const void *p, size_t n)
{
	o->offset += n;
	if (n > PD_OUT_BUFFER - o->used && pd_out_flush(o))
		return o->failed;
	if (n >= PD_OUT_BUFFER)
		return write_all(o, p, n);
	if (n)
		memcpy(o->buffer + o->used, p, n);
	o->used += n;
	return o->failed;
}

int pd_out_at(struct pd_out *o, uint64_t offset, const void *p, size_t n)
{
	const uint8_t *at = p;

	if (pd_out_flush(o))
		return o->failed;
	while (n) {
		ssize_t got = pwrite(o->fd, at, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return o->failed = errno;
		at += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}
