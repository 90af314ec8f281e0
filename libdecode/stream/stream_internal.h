/* stream_internal.h - what the parts of the stream share: stream.c, stream_lost.c, stream_inner.c. */
#ifndef PD_STREAM_STREAM_INTERNAL_H
#define PD_STREAM_STREAM_INTERNAL_H

#include <string.h>

#include "stream/stream.h"

#define PD_IMPLAUSIBLE_TYPE 0x10000	/* text that perf printed into its own output reads as such, and addresses of code */
#define PD_DOUBTFUL_TYPE 0x100	/* far from those that the kernel and perf gave so far */
#define PD_LOST_PIECE (32 * 1024)	/* lost bytes are given out in such pieces at most */

/* A record of which only `bytes` are there, or the last bytes, too few for a header. */
enum pd_next pd_stream_damaged(struct pd_frame *f, enum pd_code code, uint64_t want, struct pd_bytes bytes,
			       struct pd_error *e);

/* How many bytes of the record there are: its header says it, but for some COMPRESSED2. */
uint64_t pd_stream_real_size(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have);

/* The usual case: this header and the next are plausible. */
bool pd_stream_is_sound(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have, uint64_t size);

/* --- stream_lost.c --- */

/* The time of a sample of which the first bytes are there. False: it has none. */
bool pd_lost_time_of(const struct pd_stream *s, struct pd_bytes sample, uint64_t *time);
/* Gives the search what is known at `offset`: the time of the last sample, and credit. */
void pd_lost_prepare_search(struct pd_stream *s, struct pd_lost *l, uint64_t offset);
/* That time alone. */
void pd_lost_set_time(struct pd_stream *s);

/* Has a search been where `at` is? An event that has come since may tell more. */
bool pd_lost_is_searched(const struct pd_stream *s, const struct pd_lost *l, uint64_t at);
void pd_lost_set_searched(struct pd_stream *s, struct pd_lost *l, uint64_t at, const struct pd_resync_at *found);

/* From `at` on bytes are no records; `code`, `want` and `have` are what will be said of them. */
void pd_lost_begin(struct pd_lost *l, const struct pd_frame *f, uint64_t at, enum pd_code code, uint64_t want,
		   uint64_t have);

/* A piece of the lost bytes, the last one with *e. */
enum pd_next pd_lost_piece(struct pd_lost *l, struct pd_frame *f, uint64_t at, struct pd_bytes bytes, bool last,
			   struct pd_error *e);

enum pd_leads {
	PD_LEADS_NOWHERE,
	PD_LEADS_ON,		/* to a known type, or to the end of all */
	PD_LEADS_OUT_OF_SIGHT,	/* over unknown types to the end of what can be seen */
};

/* Where do the headers behind the record at in[0] lead, which lies at `offset` and has `size` bytes, over whatever number of
 * unknown types? `closed`: nothing follows the bytes. Charges each header to the search. */
enum pd_leads pd_stream_leads_on(struct pd_stream *s, struct pd_lost *l, struct pd_bytes in, uint64_t offset,
				 uint64_t size, bool closed);

/* --- stream_inner.c --- */

/* The compressed record f is expanded from here on; `have` begins with it. 0, or -1 and *e. */
int pd_stream_start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have, struct pd_error *e);

/* The next record out of the compressed one that is being expanded; PD_NEXT_END when it is used up. */
enum pd_next pd_stream_next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e);

/* What is decompressed and not yet framed. */
struct pd_bytes pd_stream_inner_left(const struct pd_stream *s);

static inline void pd_stream_read_header(struct pd_stream *s, struct pd_bytes bytes, struct pd_frame *f)
{
	struct pd_cursor c = pd_cursor(bytes, s->session->swap);
	struct pd_record_header h = { .type = 0 };

	pd_take_record_header(&c, &h);
	*f = (struct pd_frame){
		.type = h.type, .misc = h.misc, .size = h.size, .desc = pd_record_desc(h.type), .inner_offset = PD_OUTER,
	};
}

/* The last sample tells the time when framing is lost. */
static inline void pd_stream_keep_sample(struct pd_stream *s, const struct pd_frame *f)
{
	if (f->type == PD_RECORD_SAMPLE)
		s->last_sample = f->bytes;
}

/* Its first bytes, before those it lies in move. */
static inline void pd_stream_save_sample(struct pd_stream *s)
{
	if (!s->last_sample.size)
		return;
	s->sample_size = s->last_sample.size < PD_SAMPLE_HEAD ? (uint16_t)s->last_sample.size : PD_SAMPLE_HEAD;
	memcpy(s->sample, s->last_sample.data, s->sample_size);
	s->last_sample.size = 0;
}

/* Is its size nothing to look twice at? Compressed bytes may hold what looks like records. */
static inline bool pd_stream_is_usual(struct pd_stream *s, const struct pd_frame *f, uint64_t size)
{
	return f->desc && (f->desc->compressed || pd_resync_is_usual(&s->resync, f->type, (size_t)size));
}

#endif
