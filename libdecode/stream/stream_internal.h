/* stream_internal.h - shared by stream.c and stream_*.c. */
#ifndef PD_STREAM_STREAM_INTERNAL_H
#define PD_STREAM_STREAM_INTERNAL_H

#include <string.h>

#include "stream/stream.h"

#define PD_IMPLAUSIBLE_TYPE 0x10000	/* types from here on are text that perf printed into its
					 * own output, or code addresses */
#define PD_DOUBTFUL_TYPE 0x100	/* unknown types from here on are unlikely: far above those in
				 * use */
#define PD_LOST_PIECE (32 * 1024)	/* lost bytes are returned in pieces of at most this size */

/* Makes f a record of which only `bytes` are there, or the last bytes if too few for a header. Sets
 * *e. */
enum pd_next pd_stream_damaged(struct pd_frame *f, enum pd_code code, uint64_t want,
			       struct pd_bytes bytes, struct pd_error *e);

/* Returns the record's size: that of its header, except for some COMPRESSED2 records. */
uint64_t pd_stream_real_size(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have);

/* --- stream_doubt.c --- */

/* Returns whether this header and the next are plausible: the usual case. */
bool pd_stream_is_sound(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
			uint64_t size);

/* Returns whether the whole record at the start of `have` is accepted without a look at what
 * follows, which a stream may not have yet. One that is only a header hides nothing. */
bool pd_stream_is_credible(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
			   uint64_t size);

/* Returns 1 if what is at the source's offset is not a record, although its header is possible: its
 * size or type is damaged, and a chain of records begins inside it. Returns 0 if it is a record, -1
 * and *e on failure. */
int pd_stream_is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
		      uint64_t size, struct pd_error *e);

/* Finds the header of a recording that was appended to one whose recorder was killed inside a
 * record: the record's size covers it. A plausible header after the record shows that such bytes
 * are its own; records before that header, that the size is damaged. A stream is not waited for.
 * Sets *at to 0 if there is none. Returns 0, or -1 and *e. */
int pd_stream_find_appended(struct pd_stream *s, const struct pd_frame *f, uint64_t size,
			    size_t *at, struct pd_error *e);

/* --- stream_payload.c --- */

/* Finds out how many of the bytes after the record are its payload. Keeps the record's bytes in the
 * window. */
int pd_stream_find_payload(struct pd_stream *s, struct pd_frame *f, struct pd_error *e);

/* --- stream_search.c --- */

#define PD_SEARCH_PEEK (1u << 20)	/* for files; with the record before, at most PD_PEEK_MAX */

/* Peeks at least `ask` bytes at the source's offset, fewer where the records end. */
int pd_stream_peek(struct pd_stream *s, uint64_t ask, struct pd_bytes *have, struct pd_error *e);

/* Returns whether nothing follows these bytes. */
bool pd_stream_is_last(const struct pd_stream *s, struct pd_bytes have, uint64_t asked);

/* Searches for a record `skip` bytes after the source's offset, unless that is done already. Reads
 * no more of a pipe than the search needs. Returns 0, or -1 and *e. */
int pd_stream_search_after(struct pd_stream *s, size_t skip, struct pd_error *e);
int pd_stream_search(struct pd_stream *s, struct pd_error *e);	/* at the offset */

/* Returns the number of bytes left if all of them are zero, else 0. Space that was allocated and
 * never written has no records. */
uint64_t pd_stream_zeros_from(struct pd_stream *s, uint64_t at);

/* --- stream_lost.c --- */

/* Returns whether the bytes at have[at], which look like a record, were in the kernel's buffer
 * before the sample of `size` bytes at have[0]: the kernel stated too large a size. Records that a
 * damaged size covers are newer, or follow the sample's fields and lead over its end. Looks at
 * pd_lost_size_with_next() bytes. */
bool pd_lost_are_old_bytes(struct pd_stream *s, struct pd_bytes have, uint64_t size, uint64_t at);
/* Returns the size of the record of `size` bytes at have[0] and of the one after it, or of its
 * header if that is not there. */
uint64_t pd_lost_size_with_next(const struct pd_stream *s, struct pd_bytes have, uint64_t size);
/* Prepares a search at `offset`: sets the time of the last sample and adds credit. */
void pd_lost_prepare_search(struct pd_stream *s, struct pd_lost *l, uint64_t offset);
/* Sets the time of the last sample. */
void pd_lost_set_time(struct pd_stream *s);

/* Returns whether `at` was searched already. Not if an event was added since: it may change the
 * result. */
bool pd_lost_is_searched(const struct pd_stream *s, const struct pd_lost *l, uint64_t at);
void pd_lost_set_searched(struct pd_stream *s, struct pd_lost *l, uint64_t at,
			  const struct pd_resync_at *found);

/* Begins lost bytes at `at`. `code`, `want` and `have` are for the error that is reported with the
 * last of them. */
void pd_lost_begin(struct pd_lost *l, const struct pd_frame *f, uint64_t at, enum pd_code code,
		   uint64_t want, uint64_t have);

/* Begins the header of another recording, and its rest unless that is read. */
void pd_lost_begin_recording(struct pd_lost *l, const struct pd_frame *f, bool is_read);

/* Returns where the header of another recording is in the bytes, which do not begin with it; 0 if
 * none is. */
size_t pd_lost_find_recording(struct pd_bytes bytes);

/* Makes f a piece of the lost bytes; the last piece sets *e. */
enum pd_next pd_lost_piece(struct pd_lost *l, struct pd_frame *f, uint64_t at,
			   struct pd_bytes bytes, bool last, struct pd_error *e);

enum pd_leads {
	PD_LEADS_NOWHERE,
	PD_LEADS_ON,		/* to a known type, or to the end of the input */
	PD_LEADS_OUT_OF_SIGHT,	/* over unknown types to the end of the visible bytes */
};

/* Follows the headers after the record at in[0], which is at `offset` and has `size` bytes, over
 * any number of unknown types. `closed`: nothing follows `in`. Charges each header to the
 * search. */
enum pd_leads pd_stream_leads_on(struct pd_stream *s, struct pd_lost *l, struct pd_bytes in,
				 uint64_t offset, uint64_t size, bool closed);

/* --- stream_inner.c --- */

/* At the end of the records: reports compressed records that wait for more, once. Returns
 * PD_NEXT_DAMAGE and *e, or PD_NEXT_END. */
enum pd_next pd_stream_end_inner(struct pd_stream *s, struct pd_error *e);

/* Starts to expand the compressed record f. Returns 0, or -1 and *e. */
int pd_stream_start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e);

/* Returns the next record of the compressed one that is being expanded; PD_NEXT_END when it is used
 * up. */
enum pd_next pd_stream_next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e);

/* Returns the decompressed bytes that are not yet framed. */
struct pd_bytes pd_stream_inner_left(const struct pd_stream *s);

static inline void pd_stream_read_header(struct pd_stream *s, struct pd_bytes bytes,
					 struct pd_frame *f)
{
	struct pd_cursor c = pd_cursor(bytes, s->session->swap);
	struct pd_record_header h = { .type = 0 };
	uint64_t n;

	/* In a header that is cut off, the numbers that are whole name the record in the error. */
	if (!pd_take_record_header(&c, &h) && pd_take_number(&c, 4, &n)) {
		h.type = (uint32_t)n;
		if (pd_take_number(&c, 2, &n))
			h.misc = (uint16_t)n;
	}
	*f = (struct pd_frame){
		.type = h.type, .misc = h.misc, .size = h.size, .desc = pd_record_desc(h.type),
		.inner_offset = PD_OUTER,
	};
}

/* The last sample gives the time when framing is lost. */
static inline void pd_stream_keep_sample(struct pd_stream *s, const struct pd_frame *f)
{
	if (f->type == PD_RECORD_SAMPLE)
		s->last_sample = f->bytes;
}

/* Saves the first bytes of the last sample before the window moves. */
static inline void pd_stream_save_sample(struct pd_stream *s)
{
	if (!s->last_sample.size)
		return;
	s->sample_size = s->last_sample.size < PD_SAMPLE_HEAD ? (uint16_t)s->last_sample.size :
								PD_SAMPLE_HEAD;
	memcpy(s->sample, s->last_sample.data, s->sample_size);
	s->last_sample.size = 0;
}

/* Returns whether the size needs no verification. Compressed bytes may contain what looks like
 * records. */
static inline bool pd_stream_is_usual(struct pd_stream *s, const struct pd_frame *f, uint64_t size)
{
	return f->desc &&
	       (f->desc->compressed || pd_resync_is_usual(&s->resync, f->type, (size_t)size));
}

#endif
