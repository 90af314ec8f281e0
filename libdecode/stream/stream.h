/* stream.h - cuts a source into records, expands compressed ones, and skips the data after
 * records. */
#ifndef PD_STREAM_STREAM_H
#define PD_STREAM_STREAM_H

#include "input/source.h"
#include "input/zstd_stream.h"
#include "pd/pd.h"
#include "session/session.h"
#include "stream/resync.h"

#define PD_OUTER UINT64_MAX

#define PD_SAMPLE_HEAD 64	/* first bytes of a sample that include its id and time */

/* A record as it is in the file, not decoded. Valid until the next frame is read. */
struct pd_frame {
	uint32_t type;
	uint32_t wrong_type;	/* bits in which the header states another one; 0: none */
	uint16_t misc;
	uint16_t size;		/* as in the header; bytes.size may differ (large COMPRESSED2
				 * records) */
	struct pd_bytes bytes;
	uint64_t offset;	/* in the source; for a decompressed record, of the compressed
				 * one */
	uint64_t inner_offset;	/* in the decompressed stream, or PD_OUTER */
	uint64_t payload;	/* bytes that follow the record in the source */
	bool payload_lost;	/* its size is impossible: records follow instead */
	uint64_t zeros;		/* SKIPPED: number of zero bytes up to the end of the records;
				 * `bytes` is empty */
	const struct pd_record_desc *desc;
	enum {
		PD_FRAME_WHOLE,
		PD_FRAME_CUT,		/* the input ends inside the record */
		PD_FRAME_SKIPPED,	/* not a record */
	} state;
};

/* Lost framing: bytes between an impossible header and the next chain of headers that can be
 * trusted. Offsets are those of the source or of the decompressed stream. */
struct pd_lost {
	bool open;
	bool found;		/* a record begins at `searched_to` */
	bool only_zeros;	/* so far */
	bool is_appended;	/* another recording, up to the end: nothing is searched */
	uint64_t from;		/* the first byte */
	uint64_t bad_at; /* known not to be a record, though it may look like one; UINT64_MAX:
				 * none */
	uint64_t searched_from,
		searched_to; /* no record begins in this range, whether `open` or not */
	uint64_t undecided_at, undecided_with;	/* a record may begin at undecided_at; the bytes up
						 * to undecided_with were not enough to decide */
	uint64_t followed_to;	/* headers before this offset lead, over unknown types, to a trusted
				 * one */
	size_t events;		/* number of events known at the last search */
	uint64_t credited_to;	/* the search has credit for the input up to here */
	struct pd_error error_at_end;	/* reported with the last lost bytes */
};

struct pd_stream {
	struct pd_source *source;
	struct pd_session *session;
	uint64_t end;		/* offset of the end of the records; UINT64_MAX: the source's end */
	struct pd_zstd_stream *zstd;	/* NULL: nothing was expanded yet */
	struct pd_windows inner;	/* decompressed bytes: inner_size, of which inner_at are
					 * framed */
	size_t inner_size, inner_at;
	uint64_t inner_base;	/* offset of the window's first byte in the decompressed stream */
	uint64_t outer_offset;	/* of the compressed record being expanded */
	bool expanding;
	uint64_t cut_frame_at;	/* a compressed record before it whose frame has no end;
				 * UINT64_MAX: none */
	uint64_t pending;	/* bytes of the last frames, not yet skipped in the source */
	struct pd_bytes peeked;	/* the source's window from peeked_at on, pending bytes included;
				 * empty: peek again */
	uint64_t peeked_at;
	uint64_t payload_left;	/* of the last frame, not yet read */
	uint64_t payload_missing;	/* part of it that is after the end of the records */
	const char *payload_of;
	struct pd_resync resync;
	struct pd_lost lost, lost_inner;
	uint64_t zeros_at, zeros_end;	/* last range found to be zero */
	uint64_t begin;		/* offset of the first record */
	uint64_t awaited;	/* bytes that a fed source lacked, from its offset on; 0: none */
	uint64_t skipped, unwritten, unexpanded;	/* bytes, as in struct pd_account */
	uint64_t zero_tail, zero_tail_end;	/* zeros at the end of the last skipped bytes; the
						 * offset after these */
	uint64_t outer_size;	/* of the compressed record being expanded */
	uint64_t expanded_before;	/* bytes that the records before it expanded to */
	uint64_t barren, barren_at;	/* compressed records in a row that expanded to nothing,
					 * and the offset of the first */
	struct pd_bytes last_sample;	/* in the window; if empty, its first bytes are in
					 * `sample` */
	uint8_t sample[PD_SAMPLE_HEAD];	/* gives the time when framing is lost */
	uint16_t sample_size;
	uint8_t *corrected;	/* a record whose type is corrected; NULL: there was none */
	bool no_more_inner;	/* the source is at its end */
	bool is_expanded_enough;	/* limit reached: compressed records are no longer
					 * expanded */
	bool ended;
};

/* Adds the bytes of the records read so far to *a. */
void pd_stream_account(const struct pd_stream *s, struct pd_account *a);

/* Starts a stream of the records from the source's offset to `end`. Both are borrowed. */
void pd_stream_init(struct pd_stream *s, struct pd_source *source, struct pd_session *session,
		    uint64_t end);
void pd_stream_free(struct pd_stream *s);

/* State of a stream after the records before a place, so that another one can begin there. */
struct pd_stream_state {
	struct pd_lost lost;
	uint64_t time, credit;	/* of struct pd_resync */
	uint8_t sample[PD_SAMPLE_HEAD];
	uint16_t sample_size;
};

void pd_stream_save_state(struct pd_stream *s, struct pd_stream_state *out);
void pd_stream_set_state(struct pd_stream *s, const struct pd_stream_state *state);

enum pd_next {
	PD_NEXT_END,
	PD_NEXT_RECORD,		/* or bytes that are not a record, with more of them to follow */
	PD_NEXT_DAMAGED,	/* a record that is cut short, or bytes that are not a record; *e is
				 * set */
	PD_NEXT_DAMAGE,		/* *e is set: something is missing, and there are no bytes for it */
	PD_NEXT_FAILED,		/* *e is set: reading failed, nothing follows */
};

enum pd_next pd_stream_next(struct pd_stream *s, struct pd_frame *f, struct pd_error *e);

/* Reads the next bytes of the last frame's payload, at most n; borrowed until the next call.
 * Returns their number, 0 at the end of the payload or input, or -1 and *e. */
int pd_stream_payload(struct pd_stream *s, size_t n, struct pd_bytes *out, struct pd_error *e);

#endif
