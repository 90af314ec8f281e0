/* stream.h - cuts a source into records, expands compressed ones, and steps over the data behind records. */
#ifndef PD_STREAM_STREAM_H
#define PD_STREAM_STREAM_H

#include "input/source.h"
#include "input/zstd_stream.h"
#include "pd/pd.h"
#include "session/session.h"
#include "stream/decompress_thread.h"
#include "stream/resync.h"

#define PD_OUTER UINT64_MAX	/* inner_offset of a record that was not compressed */

#define PD_SAMPLE_HEAD 64	/* bytes of a sample with its id and time among them */

/* A record as it lies in the file, nothing decoded. Valid until the next frame is asked for. */
struct pd_frame {
	uint32_t type;
	uint16_t misc;
	uint16_t size;		/* as the header says; bytes.size may differ (COMPRESSED2's overflow) */
	struct pd_bytes bytes;
	uint64_t offset;	/* in the source; of the compressed record for what was in one */
	uint64_t inner_offset;	/* in the decompressed stream, or PD_OUTER */
	uint64_t payload;	/* bytes that follow it in the source */
	bool payload_lost;	/* they can't be as many as it says: records follow instead */
	uint64_t zeros;		/* of SKIPPED: all that is left of the records is zero, so many bytes; `bytes` is empty */
	const struct pd_record_desc *desc;
	enum {
		PD_FRAME_WHOLE,
		PD_FRAME_CUT,		/* the input ends before the record does */
		PD_FRAME_SKIPPED,	/* bytes that are no record */
	} state;
};

/* Framing is lost: what lies between a header that can't be and the next chain of headers that can be trusted. Offsets are the
 * source's, or the decompressed stream's. */
struct pd_lost {
	bool open;
	bool found;		/* a record begins at `clear` */
	uint64_t from;		/* the first byte */
	uint64_t bad;		/* known to begin no record, though it may look so; UINT64_MAX: none */
	uint64_t searched, clear;	/* no record begins in this range, whether or not it is open */
	uint64_t awaited, known;	/* what begins at `awaited`, if anything, takes bytes beyond `known` to tell */
	uint64_t led;		/* up to here headers were followed, over unknown types, to one that can be trusted */
	size_t events;		/* that were known when it was searched */
	uint64_t earned;	/* offset up to which the search has its credit */
	struct pd_error why;	/* told when the last byte is known */
};

struct pd_stream {
	struct pd_source *source;
	struct pd_session *session;
	uint64_t end;		/* offset behind the last record; UINT64_MAX: where the source ends */
	uint64_t run_until;	/* runs end with the record that reaches this offset */
	unsigned int threads;	/* more than 1: compressed records are expanded by one of their own */
	struct pd_decompress_thread *ahead;	/* that; NULL: there is none */
	uint64_t queued_to;	/* the thread has the compressed records up to here */
	struct pd_zstd_stream *zstd;	/* else */
	struct pd_windows inner;	/* decompressed: inner_size bytes, from inner_at on not yet framed */
	size_t inner_size, inner_at;
	uint64_t inner_base;	/* offset of the first in the decompressed stream */
	uint64_t outer_offset;	/* of the compressed record being expanded */
	bool expanding;
	uint64_t pending;	/* bytes of the last frames, to be skipped */
	struct pd_bytes here;	/* what the source has at its offset, pending bytes included; empty: ask it */
	uint64_t here_at;	/* that offset */
	uint64_t payload_left;	/* of the last frame, not yet read */
	uint64_t payload_missing;	/* of it, behind the end of the records */
	const char *payload_of;
	struct pd_resync resync;
	struct pd_lost lost, lost_inner;
	uint64_t zeros_at, zeros_end;	/* the last range that was found to be zero */
	uint64_t begin;		/* offset of the first record */
	uint64_t skipped, unwritten, unexpanded;	/* bytes, as in struct pd_account */
	uint64_t outer_size;	/* of the compressed record being expanded */
	struct pd_bytes last_sample;	/* in the window; empty: in sample */
	uint8_t sample[PD_SAMPLE_HEAD];	/* the head of it: tells the time when framing is lost */
	uint16_t sample_size;
	bool no_more_inner;	/* the source has ended */
	bool is_expanded_enough;	/* compressed records are not expanded any more */
	bool ended;
};

/* Adds the bytes of the records, as far as they were read. */
void pd_stream_account(const struct pd_stream *s, struct pd_account *a);

/* Records from the source's offset to `end`. Both are borrowed. `threads` that may be used, the caller's included. */
void pd_stream_init(struct pd_stream *s, struct pd_source *source, struct pd_session *session, uint64_t end, unsigned int threads);
void pd_stream_free(struct pd_stream *s);

enum pd_next {
	PD_NEXT_END,
	PD_NEXT_RECORD,		/* or bytes that are none, and more of them will follow */
	PD_NEXT_DAMAGED,	/* a record that is cut, or bytes that are none; *e says why */
	PD_NEXT_DAMAGE,		/* *e: something is missing, and no bytes to show for it */
	PD_NEXT_FAILED,		/* *e: reading failed, nothing follows */
};

enum pd_next pd_stream_next(struct pd_stream *s, struct pd_frame *f, struct pd_error *e);

/* The same, only if that is a whole record without a payload, uncompressed, which the source has already; and not as taken yet. */
bool pd_stream_peek(struct pd_stream *s, struct pd_frame *f);
void pd_stream_take(struct pd_stream *s, const struct pd_frame *f);

/* The next bytes of the last frame's payload, at most n; 0 at its end or the input's; -1. Borrowed until the next call. */
int pd_stream_payload(struct pd_stream *s, size_t n, struct pd_bytes *out, struct pd_error *e);

#endif
