/* zstd_stream.h - the zstd stream inside COMPRESSED and COMPRESSED2 records.
 *
 * One stream per file runs through all payloads: hand each one in with pd_zstd_stream_input(), then read
 * until 0. What comes out is bounded by the caller at each call, so a bomb costs no memory.
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

/* NULL: PD_E_NOMEM, PD_E_LIMIT. zstd's own memory is charged, and its window limited to what the
 * budget has left when a frame starts.
 */
struct pd_zstd_stream *pd_zstd_stream_new(struct pd_budget *b, struct pd_error *e);
void pd_zstd_stream_free(struct pd_zstd_stream *c);

/* The next payload, borrowed until pd_zstd_stream_read() says 0 or -1. Drops the rest of the last one.
 * After damage the stream goes on only with a payload that starts a new zstd frame.
 */
void pd_zstd_stream_input(struct pd_zstd_stream *c, struct pd_bytes in);

/* Like read(2): at most n bytes to p; 0 when the payload is used up; -1 once per damaged payload
 * (PD_E_CODEC, or PD_E_LIMIT when the frame wants a larger window than the budget has), and never
 * before all that came ahead of the damage was returned.
 */
int64_t pd_zstd_stream_read(struct pd_zstd_stream *c, void *p, size_t n, struct pd_error *e);

/* The same, but no further than to the end of a frame: *left are the bytes of the input behind it. What follows is the caller's
 * to look at, and to hand in. */
int64_t pd_zstd_stream_read_frame(struct pd_zstd_stream *c, void *p, size_t n, size_t *left, struct pd_error *e);

/* Whether the stream stands between two frames, and not inside one. */
bool pd_zstd_stream_at_frame_end(const struct pd_zstd_stream *c);

#endif
