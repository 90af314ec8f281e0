/* source.c - input bytes from memory, a file or a pipe. */
#include "input/source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"

#define WINDOW_SIZE (320u << 10)	/* fits into the cache; grows if a peek asks for more */
#define READ_MIN (64u << 10)	/* less free space in the window is not worth a read */
#define ZEROS_AT_ONCE 4096
#define PIECE_SHARE 4		/* of little memory a piece would leave less than reading does */
#define SHARED_KEPT (2u << 20)	/* bytes before the piece that two threads may still read */
#define SHARED_MOST (16u << 20)	/* the same for many threads: their reading brings pages back */
#define ASK_MS 200	/* a signal may come just before the wait that it should interrupt */

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

	return got < 0 ? pd_source_fail(s, e, PD_E_IO, (uint64_t)errno) : got;
}

/* Waits until there is something to read, or the wait is cancelled. */
static int await_stream(struct pd_source *s, struct pd_error *e)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };

	for (int ms = 0; poll(&ready, 1, ms) != 1; ms = ASK_MS)
		if (s->is_cancelled(s->cancel_ctx))
			return pd_source_fail(s, e, PD_E_CANCELLED, 0);
	return 0;
}

static int64_t read_stream(struct pd_source *s, void *p, size_t n, struct pd_error *e)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };

	if (s->ended)
		return 0;
	if (s->wait && poll(&ready, 1, 0) != 1)
		s->wait(s->wait_ctx);
	for (;;) {
		ssize_t got;

		if (s->is_cancelled && await_stream(s, e))
			return -1;
		got = read(s->fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) {	/* another process may have made it
							 * non-blocking */
			poll(&ready, 1, s->is_cancelled ? 0 : -1);
			continue;
		}
		s->ended = got == 0;
		return got < 0 ? pd_source_fail(s, e, PD_E_IO, (uint64_t)errno) : got;
	}
}

static size_t fed_left(const struct pd_source *s)
{
	return s->fed->bytes.size - s->fed->taken;
}

static int64_t read_fed(struct pd_source *s, void *p, size_t n, struct pd_error *e)
{
	struct pd_fed *fed = s->fed;

	if (n > fed_left(s))
		n = fed_left(s);
	if (!n)
		return fed->ended ? 0 : pd_source_fail(s, e, PD_E_AGAIN, 0);
	memcpy(p, fed->bytes.data + fed->taken, n);
	fed->taken += n;
	if (fed->taken == fed->bytes.size)
		fed->taken = fed->bytes.size = 0;
	return (int64_t)n;
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
	case SOURCE_FED:
		return read_fed(s, p, n, e);
	default:
		return 0;
	}
}

/* --- the window --- */

/* Drops the pages of the piece up to `until`. Those that threads may read are dropped later. */
static void drop_piece(struct pd_source *s, uint64_t until)
{
	const uint64_t end = s->window_at + s->filled;
	uint64_t from = s->window_at;

	if (until > end)
		until = end;
	if (s->is_shared) {
		until -= until < SHARED_KEPT ? until : SHARED_KEPT;
		from -= from < SHARED_MOST ? from : SHARED_MOST;
	}
	if (s->in_mapping && until > from)
		pd_mapping_drop(&s->mapping, (size_t)(s->origin + from), (size_t)(until - from));
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
		pd_source_no_memory(s->budget, size, e);
		return -1;
	}
	drop_piece(s, UINT64_MAX);
	s->window = s->windows.now->data;
	s->window_at = s->offset;
	s->filled = have;
	return 0;
}

/* Maps the file when that is first needed. Returns whether it is mapped, as large as it was. */
static bool map_file(struct pd_source *s)
{
	struct pd_budget *b = s->budget;
	struct stat st;

	s->may_map = s->may_map && fstat(s->fd, &st) == 0 &&
		     (uint64_t)st.st_size >= s->origin + s->size;
	if (!s->may_map || s->mapping.data)
		return s->may_map;
	s->may_map = s->piece <= b->limit / PIECE_SHARE && pd_budget_has_room(b, s->piece) &&
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
		got = pd_source_fail(s, e, PD_E_ARGUMENT, 0);
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
	if (got < 0 && e->code == PD_E_AGAIN)
		e->want = n;
	return got < 0 ? -1 : 0;
}

bool pd_source_is_fed(const struct pd_source *s)
{
	return s->kind == SOURCE_FED;
}

int pd_source_await(struct pd_source *s, uint64_t n, struct pd_error *e)
{
	if (s->kind != SOURCE_FED || s->fed->ended || bytes_left(s) + fed_left(s) >= n)
		return 0;
	pd_source_fail(s, e, PD_E_AGAIN, 0);
	e->want = n;
	return -1;
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
		return pd_source_fail(s, e, PD_E_IO, (uint64_t)errno);
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
	s->is_shared = true;
	if (s->in_mapping)
		return NULL;
	pd_window_pin(s->windows.now);
	return s->windows.now;
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
		return pd_source_fail(s, e, PD_E_ARGUMENT, 0);
	s->offset = offset;
	return 0;
}

int64_t pd_source_pread(struct pd_source *s, uint64_t offset, void *p, size_t n,
			struct pd_error *e)
{
	size_t done = 0;

	if (!pd_source_is_random(s))
		return pd_source_fail(s, e, PD_E_ARGUMENT, 0);
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
	pd_budget_free(s->budget, s->copy, s->copy_size);
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
