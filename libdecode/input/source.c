/* source.c - input bytes from memory, a file or a pipe. */
#include "input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "input/mapping.h"
#include "input/source_unpack.h"
#include "input/tempfile.h"

#define WINDOW_SIZE (320u << 10)	/* fits into the cache; grows if a peek asks for more */
#define READ_MIN (64u << 10)	/* less free space in the window is not worth a read */
#define PIECE_SIZE (4u << 20)	/* bytes of a mapped file in memory at once, besides those asked
				 * for */
#define TEMPFILE_DEFAULT (4ull << 30)
#define HEAD_SIZE 16
#define ZEROS_AT_ONCE 4096

enum source_kind { SOURCE_MEMORY, SOURCE_FILE, SOURCE_STREAM, SOURCE_UNPACK };

struct pd_source {
	enum source_kind kind;
	struct pd_budget *budget;
	int fd;
	enum pd_fd_owner owner;
	uint64_t origin;	/* FILE: offset 0 is here in the descriptor */
	uint64_t size;		/* MEMORY, FILE: when it was opened */
	uint64_t offset;
	const uint8_t *window;	/* bytes from window_at to window_at + filled */
	uint64_t window_at;
	size_t filled;
	struct pd_windows windows;	/* `window` points into these, except for MEMORY and mapped
					 * files */
	bool may_map;		/* FILE */
	struct pd_mapping mapping;	/* of the file, up to its size when it was opened */
	size_t piece;		/* bytes of the mapping in memory at once */
	bool in_mapping;	/* the window is in the mapping */
	bool ended;		/* STREAM: a terminal could be read again after EOF */
	struct pd_unpack *unpack;
	struct pd_error damage;	/* damage of the input that was copied to a temporary file */
	void (*wait)(void *ctx);
	void *wait_ctx;
};

static int set_error(const struct pd_source *s, struct pd_error *e, enum pd_code code,
		     uint64_t have)
{
	*e = (struct pd_error){
		.code = code, .severity = PD_FATAL, .offset = s ? s->offset : 0, .have = have,
	};
	return -1;
}

static void no_memory(const struct pd_budget *b, size_t size, struct pd_error *e)
{
	bool fits = b->used <= b->limit && b->limit - b->used >= size;

	set_error(NULL, e, fits ? PD_E_NOMEM : PD_E_LIMIT, 0);
}

static size_t bytes_left(const struct pd_source *s)
{
	uint64_t at = s->offset - s->window_at;

	return s->offset >= s->window_at && at < s->filled ? s->filled - (size_t)at : 0;
}

/* --- reading --- */

/* Casts to off_t are of numbers up to INT64_MAX: a 32-bit off_t would truncate them. */
_Static_assert(sizeof(off_t) == sizeof(int64_t), "compile with -D_FILE_OFFSET_BITS=64");

/* Thread-safe. Returns -1 and errno on failure. */
static ssize_t try_read_at(const struct pd_source *s, uint64_t offset, void *p, size_t n)
{
	uint64_t room = INT64_MAX - s->origin;	/* largest possible file size */
	ssize_t got;

	if (offset >= room)
		return 0;
	if (n > room - offset)
		n = (size_t)(room - offset);
	do
		got = pread(s->fd, p, n, (off_t)(s->origin + offset));
	while (got < 0 && errno == EINTR);
	return got;
}

static int64_t read_at(const struct pd_source *s, uint64_t offset, void *p, size_t n,
		       struct pd_error *e)
{
	const ssize_t got = try_read_at(s, offset, p, n);

	return got < 0 ? set_error(s, e, PD_E_IO, (uint64_t)errno) : got;
}

static int64_t read_stream(struct pd_source *s, void *p, size_t n, struct pd_error *e)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };

	if (s->ended)
		return 0;
	if (s->wait && poll(&ready, 1, 0) != 1)
		s->wait(s->wait_ctx);
	for (;;) {
		ssize_t got = read(s->fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) {	/* another process may have made it
							 * non-blocking */
			poll(&ready, 1, -1);
			continue;
		}
		s->ended = got == 0;
		return got < 0 ? set_error(s, e, PD_E_IO, (uint64_t)errno) : got;
	}
}

/* Reads some bytes that follow the window. */
static int64_t read_more(struct pd_source *s, void *p, size_t n, struct pd_error *e)
{
	switch (s->kind) {
	case SOURCE_FILE:
		return read_at(s, s->window_at + s->filled, p, n, e);
	case SOURCE_STREAM:
		return read_stream(s, p, n, e);
	case SOURCE_UNPACK:
		return pd_unpack_read(s->unpack, p, n, e);
	default:
		return 0;
	}
}

/* --- the window --- */

/* Drops the pages of the piece up to `until`. */
static void drop_piece(struct pd_source *s, uint64_t until)
{
	const uint64_t end = s->window_at + s->filled;

	if (s->in_mapping && until > s->window_at)
		pd_mapping_drop(&s->mapping, (size_t)(s->origin + s->window_at),
				(size_t)((until < end ? until : end) - s->window_at));
	s->in_mapping = false;
}

/* Moves the window to the offset, if needed, so that n bytes and a reasonable read fit. */
static int make_room(struct pd_source *s, size_t n, struct pd_error *e)
{
	const size_t have = bytes_left(s), at = have ? (size_t)(s->offset - s->window_at) : 0;
	const size_t size = n + READ_MIN < WINDOW_SIZE ? WINDOW_SIZE : n + READ_MIN;
	const struct pd_window *w = s->windows.now;

	_Static_assert(PD_PEEK_MAX + READ_MIN <= PD_WINDOW_LARGEST, "room is kept for a peek");
	if (have && w && s->window == w->data && w->capacity >= n + READ_MIN &&
	    w->capacity - at >= n && w->capacity - s->filled >= READ_MIN)
		return 0;
	if (pd_windows_move(&s->windows, have ? s->window + at : NULL, have, size)) {
		no_memory(s->budget, size, e);
		return -1;
	}
	drop_piece(s, UINT64_MAX);
	s->window = s->windows.now->data;
	s->window_at = s->offset;
	s->filled = have;
	return 0;
}

/* Maps the file when that is first needed. Returns whether it is mapped. */
static bool map_file(struct pd_source *s)
{
	struct pd_budget *b = s->budget;

	if (!s->may_map || s->mapping.data)
		return s->may_map;
	s->may_map = b->used <= b->limit && b->limit - b->used >= s->piece &&
		     pd_mapping_open(&s->mapping, s->fd, s->origin + s->size) == 0;
	b->used += s->may_map ? s->piece : 0;
	return s->may_map;
}

/* Moves the window to the offset in the mapping. Returns false for bytes that are not mapped: those
 * appended after the open are read. */
static bool map_window(struct pd_source *s, size_t n)
{
	uint64_t size;

	if (s->offset >= s->size || s->size - s->offset < n || s->size - s->offset < READ_MIN ||
	    !map_file(s))
		return false;
	drop_piece(s, s->offset < s->window_at ? UINT64_MAX : s->offset);
	size = s->size - s->offset;
	if (size > n + s->piece)
		size = n + s->piece;
	pd_mapping_bring(&s->mapping, (size_t)(s->origin + s->offset), (size_t)size);
	s->window = s->mapping.data + s->origin + s->offset;
	s->window_at = s->offset;
	s->filled = (size_t)size;
	s->in_mapping = true;
	return true;
}

int pd_source_peek(struct pd_source *s, size_t n, struct pd_bytes *out, struct pd_error *e)
{
	int64_t got = 1;

	if (n > PD_PEEK_MAX)
		got = set_error(s, e, PD_E_ARGUMENT, 0);
	while (got > 0 && bytes_left(s) < n && s->kind != SOURCE_MEMORY) {
		if (map_window(s, n))
			break;
		if (make_room(s, n, e)) {
			got = -1;
			break;
		}
		got = read_more(s, s->windows.now->data + s->filled,
				s->windows.now->capacity - s->filled, e);
		if (got > 0)
			s->filled += (size_t)got;
	}
	out->size = bytes_left(s);
	out->data = out->size ? s->window + (s->offset - s->window_at) : NULL;
	return got < 0 ? -1 : 0;
}

/* Sets *end to the current end of the input, at most `wanted`, which must be after the window. */
static int find_end(struct pd_source *s, uint64_t wanted, uint64_t *end, struct pd_error *e)
{
	uint64_t known = bytes_left(s) ? s->window_at + s->filled : s->offset;
	struct stat st;
	uint8_t probe;
	int64_t got = read_at(s, wanted - 1, &probe, 1, e);

	*end = wanted;
	if (got)
		return got < 0 ? -1 : 0;
	if (fstat(s->fd, &st))
		return set_error(s, e, PD_E_IO, (uint64_t)errno);
	*end = (uint64_t)st.st_size > s->origin ? (uint64_t)st.st_size - s->origin : 0;
	if (*end > wanted)	/* it has grown since */
		*end = wanted;
	if (*end < known)
		*end = known;
	return 0;
}

static int skip_stream(struct pd_source *s, uint64_t n, struct pd_error *e)
{
	struct pd_bytes in;

	while (n) {
		if (pd_source_peek(s, 1, &in, e))
			return -1;
		if (!in.size)
			return 0;
		if (in.size > n)
			in.size = (size_t)n;
		s->offset += in.size;
		n -= in.size;
	}
	return 0;
}

int pd_source_skip(struct pd_source *s, uint64_t n, uint64_t *skipped, struct pd_error *e)
{
	uint64_t from = s->offset;
	size_t have = bytes_left(s);
	int ret = 0;

	if (n <= have) {
		s->offset += n;
	} else if (s->kind == SOURCE_MEMORY) {
		s->offset += have;
	} else if (s->kind == SOURCE_FILE) {
		uint64_t to = n > UINT64_MAX - from ? UINT64_MAX : from + n;

		ret = find_end(s, to, &to, e);
		if (!ret)
			s->offset = to;
	} else {
		ret = skip_stream(s, n, e);
	}
	if (skipped)
		*skipped = s->offset - from;
	return ret;
}

struct pd_window *pd_source_pin(struct pd_source *s)
{
	if (s->in_mapping)
		return NULL;
	pd_window_pin(s->windows.now);
	return s->windows.now;
}

/* --- reading ahead --- */

#define FRONT (WINDOW_SIZE - PD_READ_AHEAD)	/* room for what is left of the window before */

void pd_source_start_read_ahead(struct pd_source *s, struct pd_read_ahead *a)
{
	const bool is_read = s->kind == SOURCE_FILE && !s->may_map;

	a->size = 0;
	a->window = is_read && pd_windows_may_pin(s->budget) ?
			    pd_windows_acquire(&s->windows, WINDOW_SIZE) :
			    NULL;
}

void pd_source_read_ahead(const struct pd_source *s, struct pd_read_ahead *a)
{
	const ssize_t got = try_read_at(s, a->at, a->window->data + FRONT, PD_READ_AHEAD);

	a->size = got > 0 ? (size_t)got : 0;
}

void pd_source_adopt(struct pd_source *s, struct pd_read_ahead *a)
{
	const size_t have = bytes_left(s);
	uint8_t *to = a->window->data + FRONT - have;

	if (a->size && have <= FRONT && a->at == s->offset + have) {
		if (have)
			memcpy(to, s->window + (s->offset - s->window_at), have);
		pd_windows_use(&s->windows, a->window);
		s->window = to;
		s->window_at = s->offset;
		s->filled = have + a->size;
	} else {
		pd_window_release(a->window);
	}
	a->window = NULL;
}

uint64_t pd_source_offset(const struct pd_source *s)
{
	return s->offset;
}

/* --- random access --- */

bool pd_source_is_random(const struct pd_source *s)
{
	return s->kind == SOURCE_MEMORY || s->kind == SOURCE_FILE;
}

bool pd_source_size(const struct pd_source *s, uint64_t *size)
{
	*size = s->size;
	return pd_source_is_random(s);
}

uint64_t pd_source_input_size(const struct pd_source *s)
{
	return pd_source_is_random(s) ? s->size : s->offset;
}

int pd_source_seek(struct pd_source *s, uint64_t offset, struct pd_error *e)
{
	if (!pd_source_is_random(s))
		return set_error(s, e, PD_E_ARGUMENT, 0);
	s->offset = offset;
	return 0;
}

int64_t pd_source_pread(struct pd_source *s, uint64_t offset, void *p, size_t n,
			struct pd_error *e)
{
	size_t done = 0;

	if (!pd_source_is_random(s))
		return set_error(s, e, PD_E_ARGUMENT, 0);
	if (s->kind == SOURCE_MEMORY) {
		if (offset >= s->filled || !n)
			return 0;
		if (n > s->filled - offset)
			n = (size_t)(s->filled - offset);
		memcpy(p, s->window + offset, n);
		return (int64_t)n;
	}
	while (done < n) {
		int64_t got = read_at(s, offset + done, (uint8_t *)p + done, n - done, e);

		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

uint64_t pd_source_data_from(struct pd_source *s, uint64_t offset)
{
	off_t was, at;
	int why;

	if (s->kind != SOURCE_FILE || offset > INT64_MAX - s->origin)
		return offset;
	was = lseek(s->fd, 0, SEEK_CUR);
	at = lseek(s->fd, (off_t)(s->origin + offset), SEEK_DATA);
	why = errno;
	if (was >= 0)	/* the offset is shared with the caller */
		lseek(s->fd, was, SEEK_SET);
	if (at < 0)
		return why == ENXIO ? UINT64_MAX : offset;
	return (uint64_t)at - s->origin;
}

uint64_t pd_source_nonzero_from(struct pd_source *s, uint64_t from, uint64_t to)
{
	uint8_t chunk[ZEROS_AT_ONCE];
	struct pd_error ignored;

	while (from < to) {
		const size_t ask = to - from < sizeof(chunk) ? (size_t)(to - from) : sizeof(chunk);
		const int64_t got = pd_source_pread(s, from, chunk, ask, &ignored);

		if (got <= 0)
			return from;
		for (int64_t i = 0; i < got; i++)
			if (chunk[i])
				return from + (uint64_t)i;
		from = pd_source_data_from(s, from + (uint64_t)got);
	}
	return to;
}

/* --- opening --- */

static struct pd_source *new_source(enum source_kind kind, struct pd_budget *b, struct pd_error *e)
{
	struct pd_source *s = pd_budget_alloc(b, sizeof(*s));

	if (!s) {
		no_memory(b, sizeof(*s), e);
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
		set_error(NULL, e, PD_E_IO, (uint64_t)errno);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		set_error(NULL, e, PD_E_IO, EISDIR);
		return NULL;
	}
	if (S_ISREG(st.st_mode))
		at = lseek(fd, 0, SEEK_CUR);
	s = new_source(at >= 0 ? SOURCE_FILE : SOURCE_STREAM, l->budget, e);
	if (!s)
		return NULL;
	s->fd = fd;
	s->owner = owner;
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
	static const char magics[][9] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	bool known = false;

	if (head.size < HEAD_SIZE)
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		known |= !memcmp(head.data, magics[i], 8);
	return known && pd_load64(head.data + 8, PD_SWAP_NO) != HEAD_SIZE &&
	       pd_load64(head.data + 8, PD_SWAP_YES) != HEAD_SIZE;
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

/* Adds the layers that the first bytes need: unpacking, a temporary file. Takes ownership of s. */
static struct pd_source *open_layers(struct pd_source *s, const struct pd_source_limits *l,
				struct pd_error *e)
{
	const struct pd_packing *packing;
	struct pd_bytes head;

	_Static_assert(HEAD_SIZE >= PD_PACKING_HEAD, "the packing is found");
	if (pd_source_peek(s, HEAD_SIZE, &head, e))
		goto failed;
	packing = pd_packing_of(head);
	if (packing) {
		s = unpack_source(s, packing, e);
		if (!s)
			return NULL;
		if (pd_source_peek(s, HEAD_SIZE, &head, e))
			goto failed;
	}
	if (!pd_source_is_random(s) && needs_random(head))
		return copy_to_tempfile(s, l, e);
	return s;
failed:
	pd_source_close(s);
	return NULL;
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
		set_error(NULL, e, PD_E_IO, (uint64_t)errno);
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

void pd_source_close(struct pd_source *s)
{
	if (!s)
		return;
	pd_unpack_free(s->unpack);
	if (s->owner == PD_FD_OWNED && s->fd >= 0)
		close(s->fd);
	if (s->mapping.data)
		s->budget->used -= s->piece;
	pd_mapping_close(&s->mapping);
	pd_windows_free(&s->windows);
	pd_budget_free(s->budget, s, sizeof(*s));
}

void pd_source_on_wait(struct pd_source *s, void (*wait)(void *ctx), void *ctx)
{
	while (s->unpack)
		s = pd_unpack_under(s->unpack);
	s->wait = wait;
	s->wait_ctx = ctx;
}

const struct pd_error *pd_source_damage(const struct pd_source *s)
{
	if (s->unpack)
		return pd_unpack_damage(s->unpack);
	return s->damage.code ? &s->damage : NULL;
}
