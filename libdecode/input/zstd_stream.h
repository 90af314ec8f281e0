/* zstd_stream.h - the zstd stream inside COMPRESSED and COMPRESSED2 records.
 *
 * One stream runs through all payloads of a file: pass each one to pd_zstd_stream_input(), then
 * read until 0. The caller limits the output of each call, so a decompression bomb takes no memory.
 */
#ifndef PD_INPUT_ZSTD_STREAM_H
#define PD_INPUT_ZSTD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "pd/bytes.h"
#include "pd/error.h"

struct pd_zstd_stream;

/* Returns NULL and *e on failure: PD_E_NOMEM, PD_E_LIMIT. zstd's own memory is charged to the
 * budget, and its window is limited to what the budget has left when a frame starts. */
struct pd_zstd_stream *pd_zstd_stream_new(struct pd_budget *b, struct pd_error *e);
void pd_zstd_stream_free(struct pd_zstd_stream *c);

/* Sets the next payload, borrowed until pd_zstd_stream_read() returns 0 or -1. Drops the rest of
 * the last one. After damage the stream continues only with a payload that starts a new zstd
 * frame. */
void pd_zstd_stream_input(struct pd_zstd_stream *c, struct pd_bytes in);

/* Gives up a frame that has no end, if the next payload starts another. Returns whether it does: no
 * block is as large as these bytes would state, and the payloads of records end with a block. */
bool pd_zstd_stream_give_up(struct pd_zstd_stream *c, struct pd_bytes next);

/* Like read(2): writes at most n bytes to p; returns 0 when the payload is used up, and -1 once for
 * each damaged payload (PD_E_CODEC, or PD_E_LIMIT if the frame needs a larger window than the
 * budget has), after all output before the damage. */
int64_t pd_zstd_stream_read(struct pd_zstd_stream *c, void *p, size_t n, struct pd_error *e);

/* The same, but stops at the end of a frame. Sets *left to the number of input bytes after it,
 * which the caller must pass in again. */
int64_t pd_zstd_stream_read_frame(struct pd_zstd_stream *c, void *p, size_t n, size_t *left,
				  struct pd_error *e);

/* Returns whether the stream is between two frames. */
bool pd_zstd_stream_at_frame_end(const struct pd_zstd_stream *c);

#endif
