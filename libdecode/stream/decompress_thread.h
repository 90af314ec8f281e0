/* decompress_thread.h - a thread that decompresses the payloads of compressed records before the
 * stream needs them.
 *
 * The stream queues payloads in the order of the file and takes their decompressed bytes piece by
 * piece, in windows with room in front for the incomplete record at the end of the piece before.
 * Only the stream's thread uses the budget, the windows and the source.
 */
#ifndef PD_STREAM_DECOMPRESS_THREAD_H
#define PD_STREAM_DECOMPRESS_THREAD_H

#include "input/window.h"
#include "pd/bytes.h"
#include "pd/error.h"

#define PD_PIECE_FRONT (64u << 10)	/* room in front of a piece, in bytes */

struct pd_decompress_thread;

/* The payload of the compressed record at `offset`. */
struct pd_payload {
	uint64_t offset;
	struct pd_bytes bytes;
	struct pd_window *held;		/* has the bytes, and is released when they are used up;
					 * NULL: they stay valid */
};

/* Decompressed bytes of a payload. A piece without bytes ends the payload. */
struct pd_piece {
	struct pd_window *window;	/* the bytes begin at data + PD_PIECE_FRONT; NULL: no
					 * bytes */
	size_t size;
	int result;			/* at the end: 0 for success, -1 for *error */
	struct pd_error error;
};

/* Starts a thread that makes pieces of at least `size` bytes; `windows` is borrowed. Returns NULL
 * if there is no thread, or too little memory for one. */
struct pd_decompress_thread *pd_decompress_thread_new(struct pd_windows *windows, size_t size);
void pd_decompress_thread_free(struct pd_decompress_thread *a);

bool pd_decompress_thread_has_room(const struct pd_decompress_thread *a);
/* Queues a payload. Must be called only while there is room. */
void pd_decompress_thread_add(struct pd_decompress_thread *a, const struct pd_payload *p);

/* Waits for the next piece of the oldest payload. The caller must pass its window to
 * pd_windows_use() or pd_window_release(). Returns 0, or -1 without memory: the rest of the payload
 * is dropped. */
int pd_decompress_thread_next(struct pd_decompress_thread *a, struct pd_piece *piece);

#endif
