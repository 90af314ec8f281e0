/* write.h - write perf.data files and pipes: records from values, by the same tables that read them.
 *
 * Values are named as in the JSON. What is derived may be left out: counts (from the length of what they count), sizes,
 * padding. Numbers of rows that are not given are 0.
 *
 * What can't be written is refused before anything of it is: of values, pd_error says the record, the field's path and
 * what was expected there. The caller may go on.
 */
#ifndef PD_WRITE_H
#define PD_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pd/bytes.h"
#include "pd/error.h"
#include "pd/options.h"
#include "pd/pd.h"
#include "pd/types.h"
#include "pd/values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pd_value_kind {
	PD_VALUE_NUMBER,	/* number: also enumerations, flag words (their raw value), signed ones */
	PD_VALUE_TEXT,		/* bytes, without a NUL */
	PD_VALUE_BYTES,		/* bytes */
	PD_VALUE_NUMBERS,	/* numbers, count */
	PD_VALUE_OBJECT,	/* items, count: by name */
	PD_VALUE_ARRAY,		/* items, count: by place */
};

/* A value and its name. Arrays of values end where their count says; names in an array are NULL. */
struct pd_value {
	const char *name;
	enum pd_value_kind kind;
	size_t count;
	union {
		uint64_t number;
		struct pd_bytes bytes;
		const uint64_t *numbers;
		const struct pd_value *items;
	};
};
/* Initializers, in C++ expressions; all of them borrow. */
#ifndef __cplusplus
#define PD_NUMBER(n, v) { .name = n, .kind = PD_VALUE_NUMBER, .number = (uint64_t)(v) }
#define PD_TEXT(n, s) { .name = n, .kind = PD_VALUE_TEXT, .bytes = { (const uint8_t *)(s), strlen(s) } }
#define PD_BYTES(n, p, size) { .name = n, .kind = PD_VALUE_BYTES, .bytes = { (const uint8_t *)(p), size } }
#define PD_NUMBERS(n, p, c) { .name = n, .kind = PD_VALUE_NUMBERS, .numbers = p, .count = c }
#define PD_OBJECT(n, p, c) { .name = n, .kind = PD_VALUE_OBJECT, .items = p, .count = c }
#define PD_ARRAY(n, p, c) { .name = n, .kind = PD_VALUE_ARRAY, .items = p, .count = c }
#else
#define PD_NUMBER(n, v) pd_value_of_number(n, uint64_t(v))
#define PD_TEXT(n, s) pd_value_of_bytes(n, PD_VALUE_TEXT, s, strlen(s))
#define PD_BYTES(n, p, size) pd_value_of_bytes(n, PD_VALUE_BYTES, p, size)
#define PD_NUMBERS(n, p, c) pd_value_of_numbers(n, p, c)
#define PD_OBJECT(n, p, c) pd_value_of_items(n, PD_VALUE_OBJECT, p, c)
#define PD_ARRAY(n, p, c) pd_value_of_items(n, PD_VALUE_ARRAY, p, c)

static inline pd_value pd_value_of_number(const char *name, uint64_t number)
{
	pd_value v = pd_value();

	v.name = name;
	v.number = number;
	return v;
}

static inline pd_value pd_value_of_bytes(const char *name, pd_value_kind kind, const void *p, size_t size)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = kind;
	v.bytes.data = static_cast<const uint8_t *>(p);
	v.bytes.size = size;
	return v;
}

static inline pd_value pd_value_of_numbers(const char *name, const uint64_t *numbers, size_t count)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = PD_VALUE_NUMBERS;
	v.numbers = numbers;
	v.count = count;
	return v;
}

static inline pd_value pd_value_of_items(const char *name, pd_value_kind kind, const pd_value *items, size_t count)
{
	pd_value v = pd_value();

	v.name = name;
	v.kind = kind;
	v.items = items;
	v.count = count;
	return v;
}
#endif

PD_API extern const struct pd_values pd_value_values;

struct pd_writer;

enum pd_write_by {
	PD_WRITE_BY_EITHER,	/* a thread, if there is something to compress (but in a data.N), else the caller */
	PD_WRITE_BY_CALLER,
	PD_WRITE_BY_THREAD,	/* who calls does not wait for a disk before a MiB waits for it: for buffers that would overflow
				 * meanwhile. Costs a copy of all bytes. (A data.N is written by the caller all the same.) */
};

struct pd_writer_options {
	size_t size;			/* PD_WRITER_OPTIONS() sets it */
	enum pd_mode mode;		/* PD_MODE_FILE needs an fd that can seek; PD_MODE_PIPE takes any;
					 * PD_MODE_DIRECTORY: a data.N of one, records only, without events and features */
	int compress;			/* zstd level of the records given to pd_writer_write(); 0: none */
	enum pd_write_by by;
	/* Sees the records before they are compressed: all bytes that are written between pd_writer_begin() and pd_writer_finish(),
	 * in order, in pieces that end anywhere; of whichever thread writes them. pd_writer_flush() waits for it. NULL: nobody. */
	void (*watch)(void *ctx, struct pd_bytes bytes);
	void *ctx;
};
#define PD_WRITER_OPTIONS(...) PD_OPTIONS_OF(pd_writer_options, __VA_ARGS__)

/* fd is borrowed. `o` may be NULL: a file, nothing compressed. NULL and *e on failure.
 * Then, in this order: events, pd_writer_begin(), records, pd_writer_finish(). What comes out of turn is refused
 * with PD_E_ARGUMENT and changes nothing. */
PD_API struct pd_writer *pd_writer_open_fd(int fd, const struct pd_writer_options *o, struct pd_error *e);
PD_API void pd_writer_free(struct pd_writer *w);	/* without finishing; NULL is fine */

/* Before pd_writer_begin(): an event. attr: struct perf_event_attr in this machine's byte order, `attr_size` bytes of it;
 * the header of a file gives all events the size of the largest. ids: as PERF_EVENT_IOC_ID gives them. name: or NULL;
 * goes to EVENT_DESC, in a pipe to an EVENT_UPDATE. 0, or -1 and *e, as all that follow. */
PD_API int pd_writer_add_event(struct pd_writer *w, const void *attr, size_t attr_size, const uint64_t *ids, size_t nr_ids,
			       const char *name, struct pd_error *e);

/* Writes the header, ids and attrs; of a pipe its header and HEADER_ATTR records. A file cut off after this is one that a
 * killed recorder left: readers take its records. */
PD_API int pd_writer_begin(struct pd_writer *w, struct pd_error *e);

/* Whole records as the kernel wrote them, in this machine's byte order, in up to n spans (a ring that wraps gives two; a
 * record may straddle them). Compressed where the options say so, by a thread of the writer (a data.N: by the caller).
 * Buffered: see pd_writer_flush(). */
#define PD_WRITER_COMPRESSED_MOST (256 * 1024)	/* bytes of them in a compressed record: mmap_len of COMPRESSED, at least */
PD_API int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n, struct pd_error *e);

/* The same, but records may be compressed where they lie, without a copy: they stay as they are until they are given back,
 * in order and bit by bit, from this or another thread. Of a writer that failed nothing more is given back; after
 * pd_writer_finish(), pd_writer_flush() or pd_writer_free() it reads nothing of them. Where nothing is compressed, or not by a
 * thread, they are given back before the call returns. */
struct pd_lender {
	void (*give_back)(void *owner, size_t bytes);
	void *owner;
};
PD_API int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n, const struct pd_lender *from,
			  struct pd_error *e);

/* A record from values; never compressed. `event`: an index of pd_writer_add_event(), or -1: none.
 * - Of a SAMPLE or READ it chooses the layout: the fields that the event's sample_type and read_format ask for. Of
 *   several events in a recording readers find it by the sample's `identifier` or `id`.
 * - The kernel's other records, and READ, end with the event's sample_id, where its attribute has sample_id_all: the
 *   values of an object of that name, zeros where not given (an id of 0 makes it the first event's).
 * - Perf's own (type 64 and up) have nothing of an event.
 * payload: bytes that follow the record (AUXTRACE, HEADER_TRACING_DATA); may be empty. */
PD_API int pd_writer_record(struct pd_writer *w, uint32_t type, uint16_t misc, int event, const struct pd_value *fields,
			    size_t n, struct pd_bytes payload, struct pd_error *e);

/* A feature section: of a file, kept until pd_writer_finish(), so that it may come before pd_writer_begin() too; of a
 * pipe, a HEADER_FEATURE record now (TRACING_DATA as HEADER_TRACING_DATA; those that pipes carry as other records, or
 * not at all, are left out: 0). `value` is what the JSON has under `features`; its name is not looked at. EVENT_DESC is
 * made from the events. */
PD_API int pd_writer_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value, struct pd_error *e);
/* The same from bytes that are the section already. */
PD_API int pd_writer_feature_bytes(struct pd_writer *w, uint32_t id, struct pd_bytes section, struct pd_error *e);
/* Names of features so far that are not in the output, as they are too large for a record of a pipe; NULL behind the last. */
PD_API const char *pd_writer_feature_left_out(const struct pd_writer *w, size_t i);

/* Everything given so far reaches the fd; a file's header then says how much that is, so that a recorder that is killed
 * leaves a file up to here. */
PD_API int pd_writer_flush(struct pd_writer *w, struct pd_error *e);
/* The same, but what a thread has yet to do reaches the fd a little later; failures may come with a later call. */
PD_API int pd_writer_flush_soon(struct pd_writer *w, struct pd_error *e);
/* Bytes of the output so far, without what waits to be compressed. */
PD_API uint64_t pd_writer_size(const struct pd_writer *w);

/* Ends the output: a file gets its features and the sizes in its header. The writer can only be freed then. */
PD_API int pd_writer_finish(struct pd_writer *w, struct pd_error *e);

/* Ends an output that can't be written to any more: a disk is full, a limit is reached. A file, or a data.N, is cut off after
 * the last whole record that reached it (fd must be readable to find that one), and a file's header states that size; it
 * says that the recording is unfinished and lacks its features. Without a failure before, everything given so far is kept.
 * Sets *kept to the bytes of the output. The writer can only be freed then. 0, or -1 and *e: the header can't be written. */
PD_API int pd_writer_abort(struct pd_writer *w, uint64_t *kept, struct pd_error *e);

/* Encoder: the parts of the JSON, from any tree of values, back to the file they came from. In any order but for what a
 * part needs: `file` first, then attrs and features of a file before its records. */
struct pd_encoder;

enum pd_encode_order { PD_ENCODE_AS_SAID, PD_ENCODE_LITTLE, PD_ENCODE_BIG };
enum pd_encode_mode { PD_ENCODE_SAME_MODE, PD_ENCODE_FILE, PD_ENCODE_PIPE };

struct pd_encoder_options {
	size_t size;
	enum pd_encode_order byte_order;
	enum pd_encode_mode mode;
	int compress;		/* zstd level for kernel records; 0: as they are */
	uint64_t memory_limit;	/* 0: 256 MiB */
	/* For directories: opens another file of it ("data.0") to write. Borrowed. -1: can't be. NULL: no directories. */
	int (*open_file)(void *ctx, const char *name);
	void *ctx;
};

struct pd_encode_error {
	enum pd_code code;	/* PD_E_ARGUMENT, PD_E_COUNT, PD_E_SIZE: the values; PD_E_IO (errno in have), PD_E_LIMIT */
	uint64_t have;
	char path[160];		/* "callchain[3]", from the part's object */
	char text[160];		/* what was expected */
};

/* fd: can seek and be truncated; borrowed. `o` may be NULL. */
PD_API struct pd_encoder *pd_encoder_new(const struct pd_values *values, int fd, const struct pd_encoder_options *o,
					 struct pd_encode_error *e);
/* The object under `file`, of one of `attrs`, `features`, of a record: 0, or -1 and *e. */
PD_API int pd_encoder_file(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e);
PD_API int pd_encoder_attr(struct pd_encoder *enc, pd_node attr, struct pd_encode_error *e);
PD_API int pd_encoder_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e);
PD_API int pd_encoder_record(struct pd_encoder *enc, pd_node record, struct pd_encode_error *e);
/* Ends the output. The encoder can only be freed then. */
PD_API int pd_encoder_finish(struct pd_encoder *enc, struct pd_encode_error *e);
/* Records so far that are not in the output: the rest of each never came out of a compressed stream, and without that stream
 * (its records' payloads, pdecode --blobs full) nothing can stand in its place. */
PD_API uint64_t pd_encoder_left_out(const struct pd_encoder *enc);
/* Names of features so far that are not in the output, as they are too large for a record of a pipe; NULL behind the last. */
PD_API const char *pd_encoder_feature_left_out(const struct pd_encoder *enc, size_t i);
/* Names of features so far that were turned to the other byte order without the bytes that only their `_raw` has; NULL after the
 * last. */
PD_API const char *pd_encoder_feature_lost_raw(const struct pd_encoder *enc, size_t i);
/* How many bytes of `gaps` are not in the output, after pd_encoder_finish(): it has another layout than the JSON states. */
PD_API uint64_t pd_encoder_gaps_left_out(const struct pd_encoder *enc);
PD_API void pd_encoder_free(struct pd_encoder *enc);	/* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
