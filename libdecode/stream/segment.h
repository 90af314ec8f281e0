/* segment.h - a segment of a file that another stream has read speculatively, for the main stream
 * to adopt.
 *
 * From the middle of a file it is not certain where records begin. So a speculative stream guesses
 * a beginning and reads from there. The main stream adopts the segment if it arrives exactly at the
 * segment's first record, and would have read the segment in the same way.
 */
#ifndef PD_STREAM_SEGMENT_H
#define PD_STREAM_SEGMENT_H

#include "stream/stream.h"

/* The first bytes of a sample, which have its time; size 0: no sample. */
struct pd_sample_head {
	uint8_t bytes[PD_SAMPLE_HEAD];
	uint16_t size;
};

struct pd_segment {
	uint64_t begin, end;	/* whole records that do not update the session; equal: none */
	struct pd_sample_head first, last;
};

void pd_sample_head_of(struct pd_sample_head *h, struct pd_bytes sample);

/* Sets *offset to where the next record begins. Returns false if that is not known yet, or if the
 * next record is not directly in the source. */
bool pd_stream_position(const struct pd_stream *s, uint64_t *offset);

/* Gets the last sample, whose time a stream that continues from here needs. */
void pd_stream_last_sample(struct pd_stream *s, struct pd_sample_head *h);

/* Moves to the first record at or after `from` that begins a chain, by what is known of the sample
 * before. Returns false if there is none. */
bool pd_stream_find_segment(struct pd_stream *s, uint64_t from,
			    const struct pd_sample_head *before);

/* Continues after the segment. Returns false, and does nothing, if the segment does not begin where
 * the stream is, or if the stream might not have read it in the same way. */
bool pd_stream_adopt(struct pd_stream *s, const struct pd_segment *done);

#endif
