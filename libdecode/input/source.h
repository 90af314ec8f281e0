/* source.h - input bytes, from memory, a file or a stream; gzip, zstd, xz and bzip2 are unpacked on the way.
 *
 * Two ways of access: a window that moves forward (peek, skip) for records, and pread for sections
 * where the input is random access. A perf.data header with sections on an input that can't seek (a
 * pipe, a packed file) makes the open copy all of it to an unlinked temporary file, so that such a
 * source is always random access. Offsets count unpacked bytes from the start of the input.
 */
#ifndef PD_INPUT_SOURCE_H
#define PD_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/window.h"
#include "pd/bytes.h"
#include "pd/error.h"

#define PD_PEEK_MAX ((1u << 20) + (64u << 10))

enum pd_fd_owner {
	PD_FD_BORROWED,
	PD_FD_OWNED,	/* closed with the source, and when opening fails */
};

struct pd_source_limits {
	struct pd_budget *budget;
	uint64_t tempfile;		/* most bytes of a temporary file; 0: 4 GiB */
	bool map_own;		/* PD_MAP_OWN */
};

struct pd_source;

/* NULL and *e: PD_E_IO with the errno (EISDIR for a directory), PD_E_LIMIT, PD_E_NOMEM. Waits until
 * the first 16 bytes are there. A regular file is random access, from the descriptor's offset on,
 * and that offset is left alone; anything else is a stream.
 */
struct pd_source *pd_source_open_path(const char *path, const struct pd_source_limits *l,
				      struct pd_error *e);
struct pd_source *pd_source_open_fd(int fd, enum pd_fd_owner owner,
				    const struct pd_source_limits *l, struct pd_error *e);
/* in is borrowed until the close. */
struct pd_source *pd_source_open_memory(struct pd_bytes in, const struct pd_source_limits *l,
					struct pd_error *e);
void pd_source_close(struct pd_source *s);

/* Another look at the same bytes, for another thread: it has its own offset and window. `of` is borrowed until the branch is
 * closed, and may be read meanwhile. `piece`: bytes to have in memory at once where that is mapped. NULL: it is not random access,
 * or no memory. */
struct pd_source *pd_source_clone(struct pd_source *of, size_t piece, struct pd_budget *b);

/* Called before a read that has to wait for the other side, so that output can be flushed. */
void pd_source_on_wait(struct pd_source *s, void (*wait)(void *ctx), void *ctx);

/* *out is what is contiguous at the offset now: n bytes (at most PD_PEEK_MAX) or more, fewer at the
 * end of the input; never waits for more than n. -1: a read failed, *out is what came before it.
 * The bytes stay valid until a peek or skip past them, a seek or the close.
 */
int pd_source_peek(struct pd_source *s, size_t n, struct pd_bytes *out, struct pd_error *e);

/* Moves on by n bytes, by fewer at the end of the input: *skipped (may be NULL) says how many. */
int pd_source_skip(struct pd_source *s, uint64_t n, uint64_t *skipped, struct pd_error *e);

/* What was peeked stays as it is until this is released, whatever is asked of the source, but for its close. NULL when it stays
 * anyway. */
struct pd_window *pd_source_pin(struct pd_source *s);

/* What another thread reads of a file, for the source to go on with. */
struct pd_read_ahead {
	struct pd_window *window;	/* held for the thread; NULL: there is none */
	uint64_t at;			/* offset of what it has */
	size_t size;			/* bytes of that */
};

/* Bytes that are read ahead at once. Each turn costs some cache lines that another core had, and twice as much where the cores have
 * no cache in common; of larger pieces less stays in a core's own cache. */
#define PD_READ_AHEAD (192u << 10)

/* A window to read ahead into, or none: for a file that is read. */
void pd_source_start_read_ahead(struct pd_source *s, struct pd_read_ahead *a);
/* Fills it from a->at on; less than there is, or nothing, does no harm. Thread-safe. */
void pd_source_read_ahead(const struct pd_source *s, struct pd_read_ahead *a);
/* If it has what comes behind what was peeked: that can be peeked now. The window is given back in any case. */
void pd_source_adopt(struct pd_source *s, struct pd_read_ahead *a);

uint64_t pd_source_offset(const struct pd_source *s);

/* The rest fail with PD_E_ARGUMENT, or false, where the input is not random access. */
bool pd_source_is_random(const struct pd_source *s);

/* As it was at the open; a file may shrink or grow afterwards. */
bool pd_source_size(const struct pd_source *s, uint64_t *size);
/* Bytes of input that there are: its size, or of a stream what was read so far. */
uint64_t pd_source_input_size(const struct pd_source *s);

/* An offset past the end is no error: peek gives nothing there. */
int pd_source_seek(struct pd_source *s, uint64_t offset, struct pd_error *e);

/* Bytes got, fewer than n only at the end of the input, or -1. Leaves the window alone. */
int64_t pd_source_pread(struct pd_source *s, uint64_t offset, void *p, size_t n,
			struct pd_error *e);

/* Where the next bytes are that may not be zero: the holes of sparse files are stepped over. At or
 * behind `offset`; UINT64_MAX: none are left. Where holes can't be told it is `offset`.
 */
uint64_t pd_source_data_from(struct pd_source *s, uint64_t offset);

/* Offset of the first byte in [from, to) that is not zero, or `to`. What can't be read counts as not zero. */
uint64_t pd_source_nonzero_from(struct pd_source *s, uint64_t from, uint64_t to);

/* What is wrong with the packing, or NULL: PD_E_CODEC for a damaged or cut compressed wrapping
 * (the input ends at `offset`, where it shows), PD_E_TRAILING for bytes behind it that are not all zero,
 * PD_E_IO when reading broke off while a stream was spooled. `field` names the packing. Complete
 * only at the end of the input; for a spooled one from the open on.
 */
const struct pd_error *pd_source_damage(const struct pd_source *s);

#endif
