/* source_open.c - opens sources: unpacking, temporary files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/tempfile.h"
#include "input/magic.h"
#include "input/newlines.h"
#include "input/source_internal.h"
#include "layout/container.h"

#define PIECE_SIZE (2u << 20)	/* bytes of a mapped file in memory at once, besides those asked
				 * for */
#define TEMPFILE_DEFAULT (4ull << 30)

static struct pd_source *new_source(enum source_kind kind, struct pd_budget *b, struct pd_error *e)
{
	struct pd_source *s = pd_budget_alloc(b, sizeof(*s));

	if (!s) {
		pd_source_no_memory(b, sizeof(*s), e);
		return NULL;
	}
	s->kind = kind;
	s->budget = s->windows.budget = b;
	s->fd = -1;
	return s;
}

/* Returns whether only the process's user can write or truncate the file. */
static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Takes ownership of fd; on failure the caller keeps it. */
static struct pd_source *new_fd_source(int fd, enum pd_fd_owner owner,
				       const struct pd_source_limits *l, struct pd_error *e)
{
	struct pd_source *s;
	struct stat st;
	off_t at = -1;

	if (fstat(fd, &st)) {
		pd_source_fail(NULL, e, PD_E_IO, (uint64_t)errno);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		pd_source_fail(NULL, e, PD_E_IO, EISDIR);
		return NULL;
	}
	if (S_ISREG(st.st_mode))
		at = lseek(fd, 0, SEEK_CUR);
	s = new_source(at >= 0 ? SOURCE_FILE : SOURCE_STREAM, l->budget, e);
	if (!s)
		return NULL;
	s->fd = fd;
	s->owner = owner;
	s->is_cancelled = l->is_cancelled;
	s->cancel_ctx = l->ctx;
	if (at >= 0) {
		s->origin = (uint64_t)at;
		s->size = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
		s->may_map = l->map_own && is_own(&st);
		s->piece = PIECE_SIZE;
	}
	return s;
}

/* Returns whether this is a perf.data header with sections: its size is not 16, that of pipe
 * mode. */
static bool needs_random(struct pd_bytes head)
{
	bool damaged;

	return pd_magic_of(head, &damaged) != PD_MAGIC_NONE &&
	       pd_load64(head.data + PD_MAGIC_TEXT, PD_SWAP_NO) != PD_MAGIC_SIZE &&
	       pd_load64(head.data + PD_MAGIC_TEXT, PD_SWAP_YES) != PD_MAGIC_SIZE;
}

/* Takes ownership of s. */
static struct pd_source *unpack_source(struct pd_source *s, const struct pd_packing *packing,
				       struct pd_error *e)
{
	struct pd_source *outer = new_source(SOURCE_UNPACK, s->budget, e);

	if (!outer) {
		pd_source_close(s);
		return NULL;
	}
	outer->unpack = pd_unpack_new(s, packing, s->budget, e);
	if (!outer->unpack) {
		pd_source_close(outer);
		return NULL;
	}
	return outer;
}

/* Copies all of s to the file. If the input is damaged or broken, keeps what came before. */
static int fill_tempfile(struct pd_source *s, struct pd_tempfile *tempfile, struct pd_error *damage,
			 struct pd_error *e)
{
	struct pd_bytes in;

	for (;;) {
		if (pd_source_peek(s, 1, &in, damage)) {
			if (pd_is_pause(damage->code)) {
				*e = *damage;
				return -1;
			}
			damage->severity = PD_DAMAGED;
			return 0;
		}
		if (!in.size)
			break;
		if (pd_tempfile_append(tempfile, in.data, in.size, e)) {
			e->offset = s->offset;
			return -1;
		}
		s->offset += in.size;
	}
	if (pd_source_damage(s))
		*damage = *pd_source_damage(s);
	return 0;
}

/* Takes ownership of s. */
static struct pd_source *copy_to_tempfile(struct pd_source *s, const struct pd_source_limits *l,
					  struct pd_error *e)
{
	struct pd_error damage = { .code = PD_OK };
	struct pd_source *file = NULL;
	struct pd_tempfile tempfile;

	if (pd_tempfile_open(&tempfile, l->tempfile ? l->tempfile : TEMPFILE_DEFAULT, e))
		goto out;
	if (!fill_tempfile(s, &tempfile, &damage, e))
		file = new_fd_source(tempfile.fd, PD_FD_OWNED, l, e);
	if (file)
		file->damage = damage;
	else
		pd_tempfile_close(&tempfile);
out:
	pd_source_close(s);
	return file;
}

/* Returns whether a "\r" is before each newline of the recording. */
static bool has_returns(struct pd_source *s, struct pd_bytes head)
{
	bool damaged;

	return pd_source_is_random(s) && pd_magic_of(head, &damaged) != PD_MAGIC_NONE &&
	       pd_newlines_are_converted(s);
}

/* Copies all of the file to memory, without the "\r" before newlines: its offsets lead there. If
 * memory is short, s stays as it is, and the reader tells. Takes ownership of s. */
static struct pd_source *copy_without_returns(struct pd_source *s, struct pd_error *e)
{
	struct pd_source *copy;
	uint64_t size;
	int64_t got;

	if (!pd_source_size(s, &size) || size > SIZE_MAX ||
	    !pd_budget_has_room(s->budget, 2 * size))
		return s;
	copy = unpack_source(s, &pd_packing_newlines, e);
	if (!copy)
		return NULL;
	copy->kind = SOURCE_MEMORY;
	copy->copy = pd_budget_alloc(copy->budget, (size_t)size);
	copy->copy_size = (size_t)size;
	copy->window = copy->copy;
	if (!copy->copy) {
		pd_source_no_memory(copy->budget, (size_t)size, e);
		pd_source_close(copy);
		return NULL;
	}
	do {
		got = pd_unpack_read(copy->unpack, copy->copy + copy->filled,
				     copy->copy_size - copy->filled, e);
		copy->filled += got > 0 ? (size_t)got : 0;
	} while (got > 0 && copy->filled < copy->copy_size);
	copy->size = copy->filled;
	if (got < 0) {
		pd_source_close(copy);
		return NULL;
	}
	return copy;
}

/* Adds the layers that the first bytes need: unpacking, a temporary file, newlines as they were.
 * Takes ownership of s. */
static struct pd_source *open_layers(struct pd_source *s, const struct pd_source_limits *l,
				struct pd_error *e)
{
	const struct pd_packing *packing;
	struct pd_bytes head;

	_Static_assert(PD_MAGIC_SIZE >= PD_PACKING_HEAD, "the packing is found");
	if (pd_source_peek(s, PD_MAGIC_SIZE, &head, e))
		goto failed;
	packing = pd_packing_of(head);
	if (packing) {
		s = unpack_source(s, packing, e);
		if (!s)
			return NULL;
		if (pd_source_peek(s, PD_MAGIC_SIZE, &head, e))
			goto failed;
	}
	if (!pd_source_is_random(s) && needs_random(head)) {
		s = copy_to_tempfile(s, l, e);
		if (!s)
			return NULL;
		if (pd_source_peek(s, PD_MAGIC_SIZE, &head, e))
			goto failed;
	}
	if (!has_returns(s, head))
		return s;
	return needs_random(head) ? copy_without_returns(s, e) :
				    unpack_source(s, &pd_packing_newlines, e);
failed:
	pd_source_close(s);
	return NULL;
}

bool pd_source_has_layers(struct pd_bytes head)
{
	return pd_packing_of(head) || needs_random(head);
}

struct pd_source *pd_source_open_fed(struct pd_fed *fed, const struct pd_source_limits *l,
				     struct pd_error *e)
{
	struct pd_source *s = new_source(SOURCE_FED, l->budget, e);

	if (s)
		s->fed = fed;
	return s;
}

struct pd_source *pd_source_open_fd(int fd, enum pd_fd_owner owner,
				    const struct pd_source_limits *l, struct pd_error *e)
{
	struct pd_source *s = new_fd_source(fd, owner, l, e);

	if (!s) {
		if (owner == PD_FD_OWNED)
			close(fd);
		return NULL;
	}
	return open_layers(s, l, e);
}

struct pd_source *pd_source_open_path(const char *path, const struct pd_source_limits *l,
				      struct pd_error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		pd_source_fail(NULL, e, PD_E_IO, (uint64_t)errno);
		return NULL;
	}
	return pd_source_open_fd(fd, PD_FD_OWNED, l, e);
}

struct pd_source *pd_source_open_memory(struct pd_bytes in, const struct pd_source_limits *l,
					struct pd_error *e)
{
	struct pd_source *s = new_source(SOURCE_MEMORY, l->budget, e);

	if (!s)
		return NULL;
	s->window = in.data;
	s->filled = in.size;
	s->size = in.size;
	return open_layers(s, l, e);
}
