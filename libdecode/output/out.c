/* out.c - buffered output to a descriptor. */
#include "output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RESERVE (UINT64_C(16) << 20)	/* bytes that are reserved at once, after as many */
#define XFS_MAGIC 0x58465342

/* Other file systems would fill the space with zeros, as tmpfs, or not compress it, as btrfs. */
static bool can_reserve(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_MAGIC);
}

/* Reserves space for long outputs, where that is cheap: write(2) need not look for the place of
 * each page, and takes a quarter less CPU time on ext4. The file's size stays as it is. */
static void reserve_space(struct pd_out *o, size_t n)
{
	const off_t at = lseek(o->fd, 0, SEEK_CUR);

	o->reserved = UINT64_MAX;
	if (at < 0 || (!o->has_reserve && !can_reserve(o->fd)) ||
	    fallocate(o->fd, FALLOC_FL_KEEP_SIZE, at, (off_t)(RESERVE + n)))
		return;
	o->has_reserve = true;
	o->reserved = o->written + RESERVE + n;
}

/* Gives back what was not written to. */
static void end_reserve(const struct pd_out *o)
{
	struct stat st;

	if (o->has_reserve && fstat(o->fd, &st) == 0 && ftruncate(o->fd, st.st_size))
		return;		/* the space goes with the file */
}

int pd_out_init(struct pd_out *o, int fd)
{
	*o = (struct pd_out){ .fd = fd, .reserved = RESERVE, .buffer = malloc(PD_OUT_BUFFER) };
	return o->buffer ? 0 : -1;
}

void pd_out_free(struct pd_out *o)
{
	if (o->buffer)
		end_reserve(o);
	free(o->buffer);
	o->buffer = NULL;
}

/* A piece size that is no power of two makes the kernel use small folios, whose pages come from
 * recently freed memory. Large folios come from memory that has not been used for long; a virtual
 * machine's host may have to provide that first, which takes ten times as long as the copy, while
 * ring buffers overflow. */
static int write_all(struct pd_out *o, const uint8_t *p, size_t n)
{
	if (o->written + n > o->reserved)
		reserve_space(o, n);
	while (n && !o->failed) {
		ssize_t n_written = write(o->fd, p, n < PD_OUT_PIECE ? n : PD_OUT_PIECE);

		if (n_written < 0 && errno == EINTR)
			continue;
		if (n_written < 0) {
			o->failed = errno;
			break;
		}
		p += n_written;
		n -= (size_t)n_written;
		o->written += (uint64_t)n_written;
	}
	return o->failed;
}

int pd_out_flush(struct pd_out *o)
{
	size_t n = o->used;

	o->used = 0;
	return write_all(o, o->buffer, n);
}

/* Returns the room up to a multiple of PD_OUT_BUFFER in the output: aligned writes of many pages
 * are the fastest. */
static size_t room_to_boundary(const struct pd_out *o)
{
	const size_t before = (size_t)((o->offset - o->used) % PD_OUT_BUFFER);

	return PD_OUT_BUFFER - before - o->used;
}

int pd_out_append(struct pd_out *o, const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n) {
		const bool whole = !o->used && o->offset % PD_OUT_BUFFER == 0 && n >= PD_OUT_BUFFER;
		const size_t some = whole ? n - n % PD_OUT_BUFFER : n < room_to_boundary(o) ? n :
			room_to_boundary(o);

		if (whole) {
			write_all(o, at, some);
		} else {
			memcpy(o->buffer + o->used, at, some);
			o->used += some;
		}
		o->offset += some;
		if (o->used && !room_to_boundary(o))
			pd_out_flush(o);
		at += some;
		n -= some;
	}
	return o->failed;
}

/* Writes the last byte, which sets the size of the file. */
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
		ssize_t n_written = pwrite(o->fd, at, n, (off_t)offset);

		if (n_written < 0 && errno == EINTR)
			continue;
		if (n_written < 0)
			return o->failed = errno;
		at += n_written;
		offset += (uint64_t)n_written;
		n -= (size_t)n_written;
	}
	return 0;
}

void pd_out_cut(struct pd_out *o, uint64_t end)
{
	o->used = 0;
	o->failed = 0;
	o->offset = o->written = end;
	if (ftruncate(o->fd, (off_t)end))
		return;		/* not a file: what was written stays */
}
