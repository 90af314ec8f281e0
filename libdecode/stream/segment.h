/* segment.h - a stretch of a file that another stream has read, for one that comes to its beginning to go on behind it.
 *
 * Where records begin can't be told from the middle of a file for certain. So somebody guesses, and reads from there; and who
 * reads from the start believes it if the record that he comes to is the very first of the stretch, and his own path through it
 * would have been the same.
 */
#ifndef PD_STREAM_SEGMENT_H
#define PD_STREAM_SEGMENT_H

#include "stream/stream.h"

/* The head of a sample, which tells its time; size 0: there was none. */
struct pd_sample_head {
	uint8_t bytes[PD_SAMPLE_HEAD];
	uint16_t size;
};

struct pd_segment {
	uint64_t begin, end;	/* whole records in a row, none of which teaches anything; the same: none */
	struct pd_sample_head first, last;
};

void pd_sample_head_of(struct pd_sample_head *h, struct pd_bytes sample);

/* Where the next record begins. False: that is not known before it is asked for, or it is no record of the source's own. */
bool pd_stream_position(const struct pd_stream *s, uint64_t *offset);

/* The time of the stream's last sample, for those who read on behind it. */
void pd_stream_last_sample(struct pd_stream *s, struct pd_sample_head *h);

/* Goes to the first record at or behind `from` that looks like one, with what was known of samples before. False: there is none. */
bool pd_stream_find_segment(struct pd_stream *s, uint64_t from, const struct pd_sample_head *before);

/* Goes on behind the stretch. False, and nothing is done: it is not where the stream is, or may not be what the stream would have
 * found. */
bool pd_stream_adopt(struct pd_stream *s, const struct pd_segment *done);

#endif
