/* file_bytes.c - the bytes of a regular file: see file_bytes.h. */
#include "image/file_bytes.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST (8ull << 30)
#define STEP (256u << 10)

/* A file that shrinks while it is mapped ends the process: only its owner can do that. */
static bool is_safe_to_map(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Writable, for libelf: it writes into the headers of compressed sections when it expands them. */
static enum ps_status map_bytes(struct ps_file_bytes *f, int fd, size_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return PS_BAD_FILE;
	*f = (struct ps_file_bytes){ .bytes = { data, size } };
	return PS_OK;
}

static enum ps_status read_bytes(struct ps_file_bytes *f, int fd, size_t size)
{
	uint8_t *data = pd_budget_alloc(f->budget, size);
	size_t done = 0;

	if (!data)
		return PS_OVER_LIMIT;
	while (done < size) {
		const ssize_t n = pread(fd, data + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	f->bytes = (struct pd_bytes){ data, size };
	return done == size ? PS_OK : PS_BAD_FILE;
}

enum ps_status ps_file_bytes_open(struct ps_file_bytes *f, int fd, struct pd_budget *budget)
{
	enum ps_status status;
	struct stat st;

	*f = (struct ps_file_bytes){ .budget = budget };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return PS_BAD_FILE;
	if (st.st_size <= 0)
		return PS_NOT_ELF;
	if ((uint64_t)st.st_size > LARGEST || (uint64_t)st.st_size > SIZE_MAX)
		return PS_BAD_FILE;
	if (is_safe_to_map(&st))
		return map_bytes(f, fd, (size_t)st.st_size);
	status = read_bytes(f, fd, (size_t)st.st_size);
	if (status != PS_OK)
		ps_file_bytes_close(f);
	return status;
}

enum ps_status ps_file_read_all(int fd, struct pd_buf *out)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return PS_BAD_FILE;
	for (;;) {
		uint8_t *room = pd_buf_reserve(out, STEP);
		ssize_t n;

		if (!room)
			return PS_OVER_LIMIT;
		n = read(fd, room, STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return PS_BAD_FILE;
		if (n == 0)
			return PS_OK;
		out->size += (size_t)n;
	}
}

void ps_file_bytes_close(struct ps_file_bytes *f)
{
	if (f->budget)
		pd_budget_free(f->budget, (void *)f->bytes.data, f->bytes.size);
	else if (f->bytes.data)
		munmap((void *)f->bytes.data, f->bytes.size);
	*f = (struct ps_file_bytes){ .budget = NULL };
}
