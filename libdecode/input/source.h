/* source.h - input bytes from memory, a file or a pipe; gzip, zstd, xz and bzip2 are unpacked.
 *
 * There are two ways of access: a window that moves forward (peek, skip) for records, and pread for
 * sections if the input is random access. If an input that cannot seek (a pipe, a packed file) has
 * a perf.data header with sections, it is copied to an unlinked temporary file when it is opened.
 * So such a source is always random access. Offsets count unpacked bytes from the start of the
 * input.
 */
#ifndef PD_INPUT_SOURCE_H
#define PD_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "input/window.h"
#include "pd/bytes.h"
#include "pd/error.h"

#define PD_PEEK_MAX ((1u << 20) + (64u << 10))

enum pd_fd_owner {
	PD_FD_BORROWED,
	PD_FD_OWNED,	/* closed with the source, and if opening fails */
};

struct pd_source_limits {
	struct pd_budget *budget;
	uint64_t tempfile;		/* largest temporary file; 0: 4 GiB */
	bool map_own;		/* PD_MAP_OWN */
	bool (*is_cancelled)(void *ctx);	/* as in pd_reader_options; may be NULL */
	void *ctx;
};

/* Bytes that the caller gives in pieces. */
struct pd_fed {
	struct pd_buf bytes;	/* of which `taken` are in the source's window */
	size_t taken;
	bool ended;
};

struct pd_source;

/* Opens a source. Waits for the first 16 bytes. A regular file is random access, starting at the
 * descriptor's offset, which is not changed; anything else is a stream. Returns NULL and *e on
 * failure: PD_E_IO with the errno (EISDIR for a directory), PD_E_LIMIT, PD_E_NOMEM. */
struct pd_source *pd_source_open_path(const char *path, const struct pd_source_limits *l,
				      struct pd_error *e);
struct pd_source *pd_source_open_fd(int fd, enum pd_fd_owner owner,
				    const struct pd_source_limits *l, struct pd_error *e);
/* `in` is borrowed until pd_source_close(). */
struct pd_source *pd_source_open_memory(struct pd_bytes in, const struct pd_source_limits *l,
					struct pd_error *e);
/* A stream of the bytes in `fed`, which is borrowed as long. Where there are too few and more may
 * come, calls fail with PD_E_AGAIN and have no effect. Nothing is unpacked. */
struct pd_source *pd_source_open_fed(struct pd_fed *fed, const struct pd_source_limits *l,
				     struct pd_error *e);
/* Returns whether an input that begins like this is unpacked, or copied to a temporary file if it
 * is a stream. */
bool pd_source_has_layers(struct pd_bytes head);
void pd_source_close(struct pd_source *s);

/* Returns whether calls on the source may fail with one of these codes and be repeated. */
static inline bool pd_is_pause(enum pd_code code)
{
	return code == PD_E_AGAIN || code == PD_E_CANCELLED;
}

bool pd_source_is_fed(const struct pd_source *s);

/* Fails with PD_E_AGAIN, and sets e->want to n, if the source is fed, and fewer than n bytes from
 * the offset on are there, and more may come. */
int pd_source_await(struct pd_source *s, uint64_t n, struct pd_error *e);

/* Sets a function to call before a read that may block on a pipe, so that output can be flushed. */
void pd_source_on_wait(struct pd_source *s, void (*wait)(void *ctx), void *ctx);

/* Sets *out to the contiguous bytes at the offset: n bytes (at most PD_PEEK_MAX) or more, fewer at
 * the end of the input. Never waits for more than n. Returns -1 and *e if a read failed; *out is
 * then what came before. The bytes are valid until a peek or skip past them, a seek or the
 * close. */
int pd_source_peek(struct pd_source *s, size_t n, struct pd_bytes *out, struct pd_error *e);

/* Skips n bytes, fewer at the end of the input, and sets *skipped (may be NULL) to their number. */
int pd_source_skip(struct pd_source *s, uint64_t n, uint64_t *skipped, struct pd_error *e);

/* Pins the peeked bytes until the returned window is released; it must be released before the
 * source is closed. Returns NULL if they stay valid anyway. */
struct pd_window *pd_source_pin(struct pd_source *s);

uint64_t pd_source_offset(const struct pd_source *s);

/* The functions below fail with PD_E_ARGUMENT, or false, if the input is not random access. */
bool pd_source_is_random(const struct pd_source *s);

/* Sets *size to the size when the source was opened; a file may shrink or grow afterwards. */
bool pd_source_size(const struct pd_source *s, uint64_t *size);
/* Returns the source's size; for a stream, the bytes read so far. */
uint64_t pd_source_input_size(const struct pd_source *s);

/* Sets the offset. An offset past the end is not an error: there is nothing to peek. */
int pd_source_seek(struct pd_source *s, uint64_t offset, struct pd_error *e);

/* Reads n bytes at `offset` without moving the window. Returns the number of bytes, fewer than n
 * only at the end of the input, or -1 and *e. */
int64_t pd_source_pread(struct pd_source *s, uint64_t offset, void *p, size_t n,
			struct pd_error *e);

/* Returns the offset of the next bytes that may be non-zero, at or after `offset`, skipping the
 * holes of sparse files; UINT64_MAX if there are none, `offset` if holes are not known. */
uint64_t pd_source_data_from(struct pd_source *s, uint64_t offset);

/* Returns the offset of the first non-zero byte in [from, to), or `to`. Unreadable bytes count as
 * non-zero. */
uint64_t pd_source_nonzero_from(struct pd_source *s, uint64_t from, uint64_t to);

/* Returns the damage of the packing, or NULL: PD_E_CODEC if it is damaged or cut short (the input
 * ends at `offset`, where that was found), PD_E_TRAILING if bytes that are not all zero follow it,
 * PD_E_IO if reading failed while the input was copied. `field` names the packing. Complete only at
 * the end of the input; for a copied one, after the open. */
const struct pd_error *pd_source_damage(const struct pd_source *s);

#endif
