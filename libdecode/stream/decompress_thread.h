/* decompress_thread.h - a thread that decompresses the payloads of compressed records before the stream comes to them.
 *
 * The stream tells of payloads in the order of the file, and takes what they hold piece by piece, in windows that have room
 * in front for the rest of the piece before. Only the stream's thread touches the budget, the windows and the source.
 */
#ifndef PD_STREAM_DECOMPRESS_THREAD_H
#define PD_STREAM_DECOMPRESS_THREAD_H

#include "input/window.h"
#include "pd/bytes.h"
#include "pd/error.h"

#define PD_PIECE_FRONT (64u << 10)	/* bytes of room in front of a piece */

struct pd_decompress_thread;

/* The payload of the compressed record at `offset`. */
struct pd_payload {
	uint64_t offset;
	struct pd_bytes bytes;
	struct pd_window *held;		/* where they lie, released when they are used up; NULL: they stay anyway */
};

/* Bytes that a payload holds; a piece without any ends them. */
struct pd_piece {
	struct pd_window *window;	/* they begin at data + PD_PIECE_FRONT; NULL: there are none */
	size_t size;
	int result;			/* at the end: 0 that was all, -1 *error */
	struct pd_error error;
};

/* Borrows both. `size`: bytes of a piece, as the codec would be asked for. NULL: no thread, or too little memory for one. */
struct pd_decompress_thread *pd_decompress_thread_new(struct pd_windows *windows, size_t size);
void pd_decompress_thread_free(struct pd_decompress_thread *a);

bool pd_decompress_thread_has_room(const struct pd_decompress_thread *a);
/* While there is room. */
void pd_decompress_thread_add(struct pd_decompress_thread *a, const struct pd_payload *p);

/* The next piece of the payload that was told first; waits for it. Its window is lent to the caller, for pd_windows_use() or
 * pd_window_release(). 0, or -1: no memory, the rest of that payload is
 * dropped. */
int pd_decompress_thread_next(struct pd_decompress_thread *a, struct pd_piece *piece);

#endif
