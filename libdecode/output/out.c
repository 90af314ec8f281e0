/* out.c - a descriptor to write to. */
#include "output/out.h"

#include <errno.h>
#include <stdbool.h>
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

/* Pieces that are no power of two go into small folios, whose pages come from those that this cpu has freed lately. Large ones
 * come from memory that nobody has used for long: a virtual machine's host may have to bring that first, which takes ten times
 * as long as the copy, while buffers overflow. */
static int write_all(struct pd_out *o, const uint8_t *p, size_t n)
{
	while (n && !o->failed) {
		ssize_t got = write(o->fd, p, n < PD_OUT_PIECE ? n : PD_OUT_PIECE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			o->failed = errno;
			break;
		}
		p += got;
		n -= (size_t)got;
		o->written += (uint64_t)got;
	}
	return o->failed;
}

int pd_out_flush(struct pd_out *o)
{
	size_t n = o->used;

	o->used = 0;
	return write_all(o, o->buffer, n);
}

/* Up to where the output is a multiple of the buffer long: whole pages, many at a time, are what a file takes best. */
static size_t room(const struct pd_out *o)
{
	const size_t before = (size_t)((o->offset - o->used) % PD_OUT_BUFFER);

	return PD_OUT_BUFFER - before - o->used;
}

int pd_out_append(struct pd_out *o, const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n) {
		const bool whole = !o->used && o->offset % PD_OUT_BUFFER == 0 && n >= PD_OUT_BUFFER;
		const size_t some = whole ? n - n % PD_OUT_BUFFER : n < room(o) ? n : room(o);

		if (whole) {
			write_all(o, at, some);
		} else {
			memcpy(o->buffer + o->used, at, some);
			o->used += some;
		}
		o->offset += some;
		if (o->used && !room(o))
			pd_out_flush(o);
		at += some;
		n -= some;
	}
	return o->failed;
}

/* The last byte is written: it gives the file its size. */
int pd_out_append_zeros(struct pd_out *o, uint64_t n)
{
	static const uint8_t zeros[4096];

	if (n > sizeof(zeros) && !pd_out_flush(o) && lseek(o->fd, (off_t)(n - 1), SEEK_CUR) >= 0) {
		o->offset += n - 1;
		n = 1;
	}
	while (n && !o->failed) {
		const size_t some = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);

		pd_out_append(o, zeros, some);
		n -= some;
	}
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

void pd_out_cut(struct pd_out *o, uint64_t end)
{
	o->used = 0;
	o->failed = 0;
	o->offset = o->written = end;
	if (ftruncate(o->fd, (off_t)end))
		return;		/* no file: what was written is out of reach */
}
